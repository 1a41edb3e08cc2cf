//! Tokens to statements.

use super::token::{tokens, Kind, Token};
use super::value::Value;
use super::{CodeError, Program};
use crate::script::syntax::Code;

/// How deep expressions may be nested.
const MOST_DEPTH: u32 = 32;
/// The most operators and operands of a statement.
const MOST_PARTS: u32 = 400;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement {
    pub(crate) line: u32,
    pub(crate) kind: What,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    Assert { text: String, holds: Expr, message: Option<Expr> },
    Assign(String, Expr),
    Print(Option<Expr>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Constant(Value),
    Name(String),
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<(Expr, Expr)>),
    /// `a < b <= c`
    Compare(Box<Expr>, Vec<(&'static str, Expr)>),
    And(Box<(Expr, Expr)>),
    Or(Box<(Expr, Expr)>),
    Not(Box<Expr>),
    /// Condition, value if it holds, value if not.
    If(Box<(Expr, Expr, Expr)>),
    Tuple(Vec<Expr>),
    Call(String, Vec<Expr>),
}

/// Reads code.
///
/// # Errors
///
/// A [`CodeError`] for text outside the supported part of Python.
pub fn parse(code: &Code) -> Result<Program, CodeError> {
    let tokens = tokens(&code.text, code.line)?;
    let mut p = Parser { text: &code.text, tokens, at: 0, depth: 0, parts: 0 };
    let mut statements = Vec::new();
    loop {
        while p.at < p.tokens.len() && p.next().kind == Kind::Stop {
            p.at += 1;
        }
        if p.at == p.tokens.len() {
            return Ok(Program { statements });
        }
        p.parts = 0;
        statements.push(p.statement()?);
        if p.next().kind != Kind::Stop {
            return Err(p.unexpected("an operator or the end of the statement"));
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    /// Ends with a stop.
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    parts: u32,
}

type Read<T> = Result<T, CodeError>;

impl Parser<'_> {
    fn next(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn unexpected(&self, allowed: &str) -> CodeError {
        let token = self.next();
        let found = match token.kind {
            Kind::Stop => "the end of the statement".to_owned(),
            _ => format!("`{}`", &self.text[token.start..token.end]),
        };
        CodeError { line: token.line, reason: format!("found {found}, allowed here: {allowed}") }
    }

    fn op(&mut self, op: &str) -> bool {
        let is = matches!(self.next().kind, Kind::Op(next) if next == op);
        self.at += usize::from(is);
        is
    }

    fn word(&mut self, word: &str) -> bool {
        let is = matches!(&self.next().kind, Kind::Name(next) if next == word);
        self.at += usize::from(is);
        is
    }

    fn count(&mut self) -> Read<()> {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return Err(CodeError {
                line: self.next().line,
                reason: format!("a statement has more than {MOST_PARTS} parts"),
            });
        }
        Ok(())
    }

    fn statement(&mut self) -> Read<Statement> {
        let line = self.next().line;
        let kind = if self.word("assert") {
            let start = self.next().start;
            let holds = self.expression()?;
            let text = self.text[start..self.tokens[self.at - 1].end].to_owned();
            let message = if self.op(",") { Some(self.expression()?) } else { None };
            What::Assert { text, holds, message }
        } else if self.word("print") {
            if self.next().kind == Kind::Stop {
                What::Print(None)
            } else {
                What::Print(Some(self.tuple()?))
            }
        } else {
            let name = match &self.next().kind {
                Kind::Name(name) if !RESERVED.contains(&name.as_str()) => name.clone(),
                _ => return Err(self.unexpected("`assert`, `print` or `name = value`")),
            };
            self.at += 1;
            if !self.op("=") {
                return Err(self.unexpected("`=`"));
            }
            What::Assign(name, self.tuple()?)
        };
        Ok(Statement { line, kind })
    }

    /// One value, or several with commas between them.
    fn tuple(&mut self) -> Read<Expr> {
        let first = self.expression()?;
        if !matches!(self.next().kind, Kind::Op(",")) {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.op(",") {
            if matches!(self.next().kind, Kind::Op(")") | Kind::Stop) {
                break;
            }
            all.push(self.expression()?);
        }
        Ok(Expr::Tuple(all))
    }

    fn expression(&mut self) -> Read<Expr> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(CodeError { line: self.next().line, reason: format!("nested deeper than {MOST_DEPTH}") });
        }
        let mut value = self.or()?;
        if self.word("if") {
            let condition = self.or()?;
            if !self.word("else") {
                return Err(self.unexpected("`else`"));
            }
            value = Expr::If(Box::new((condition, value, self.expression()?)));
        }
        self.depth -= 1;
        Ok(value)
    }

    fn or(&mut self) -> Read<Expr> {
        let mut left = self.and()?;
        while self.word("or") {
            left = Expr::Or(Box::new((left, self.and()?)));
        }
        Ok(left)
    }

    fn and(&mut self) -> Read<Expr> {
        let mut left = self.not()?;
        while self.word("and") {
            left = Expr::And(Box::new((left, self.not()?)));
        }
        Ok(left)
    }

    fn not(&mut self) -> Read<Expr> {
        let mut negated = 0u32;
        while self.word("not") {
            self.count()?;
            negated += 1;
        }
        let mut value = self.comparison()?;
        // `not` yields a truth value, so an even number of them is reduced to two, not to none.
        for _ in 0..negated {
            value = Expr::Not(Box::new(value));
        }
        Ok(value)
    }

    fn comparison(&mut self) -> Read<Expr> {
        let first = self.binary(0)?;
        let mut links = Vec::new();
        loop {
            let op = match &self.next().kind {
                Kind::Op(op @ ("<" | "<=" | ">" | ">=" | "==" | "!=")) => op,
                Kind::Name(name) if name == "in" => "in",
                Kind::Name(name) if name == "not" => "not in",
                _ => break,
            };
            self.at += 1;
            if op == "not in" && !self.word("in") {
                return Err(self.unexpected("`in`"));
            }
            links.push((op, self.binary(0)?));
        }
        Ok(if links.is_empty() { first } else { Expr::Compare(Box::new(first), links) })
    }

    /// Reads operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Read<Expr> {
        let mut left = self.unary()?;
        loop {
            let Kind::Op(op) = self.next().kind else { return Ok(left) };
            let strength = match op {
                "|" => 0,
                "^" => 1,
                "&" => 2,
                "<<" | ">>" => 3,
                "+" | "-" => 4,
                "*" | "/" | "//" | "%" => 5,
                _ => return Ok(left),
            };
            if strength < least {
                return Ok(left);
            }
            self.at += 1;
            left = Expr::Binary(op, Box::new((left, self.binary(strength + 1)?)));
        }
    }

    /// Signs bind less tightly than `**`, which is right-associative.
    fn unary(&mut self) -> Read<Expr> {
        self.count()?;
        for op in ["-", "+", "~"] {
            if self.op(op) {
                self.depth += 1;
                if self.depth > MOST_DEPTH {
                    return Err(CodeError {
                        line: self.next().line,
                        reason: format!("nested deeper than {MOST_DEPTH}"),
                    });
                }
                let value = self.unary()?;
                self.depth -= 1;
                return Ok(Expr::Unary(op, Box::new(value)));
            }
        }
        let base = self.atom()?;
        if self.op("**") {
            self.depth += 1;
            if self.depth > MOST_DEPTH {
                return Err(CodeError { line: self.next().line, reason: format!("nested deeper than {MOST_DEPTH}") });
            }
            let power = self.unary()?;
            self.depth -= 1;
            return Ok(Expr::Binary("**", Box::new((base, power))));
        }
        Ok(base)
    }

    fn atom(&mut self) -> Read<Expr> {
        let value = match &self.next().kind {
            Kind::Integer(value) => Expr::Constant(Value::Integer(*value)),
            Kind::Float(value) => Expr::Constant(Value::Float(*value)),
            Kind::Text(value) => Expr::Constant(Value::Text(value.clone())),
            Kind::Name(name) if name == "True" || name == "False" => Expr::Constant(Value::Bool(name == "True")),
            Kind::Name(name) if !RESERVED.contains(&name.as_str()) => {
                let name = name.clone();
                self.at += 1;
                return if self.op("(") { self.arguments(name) } else { Ok(Expr::Name(name)) };
            }
            Kind::Op("(") => {
                self.at += 1;
                if self.op(")") {
                    return Ok(Expr::Tuple(Vec::new()));
                }
                let value = self.tuple()?;
                return if self.op(")") { Ok(value) } else { Err(self.unexpected("`)`, `,` or an operator")) };
            }
            Kind::Name(_) | Kind::Op(_) | Kind::Stop => return Err(self.unexpected("a number, a name, text or `(`")),
        };
        self.at += 1;
        Ok(value)
    }

    fn arguments(&mut self, name: String) -> Read<Expr> {
        let mut all = Vec::new();
        while !self.op(")") {
            all.push(self.expression()?);
            if !self.op(",") && !matches!(self.next().kind, Kind::Op(")")) {
                return Err(self.unexpected("`)`, `,` or an operator"));
            }
        }
        Ok(Expr::Call(name, all))
    }
}

/// Words of Python that are not names here.
const RESERVED: &[&str] = &[
    "and", "as", "assert", "class", "def", "del", "elif", "else", "for", "from", "if", "import", "in", "is", "lambda",
    "not", "or", "pass", "print", "raise", "return", "try", "while", "with", "yield", "True", "False", "None",
];
