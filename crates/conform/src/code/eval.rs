//! Statements, run.

use super::parse::{Expr, Statement, What};
use super::value::{binary, Value};
use super::{Failed, Scope};
use std::cmp::Ordering;
use std::collections::BTreeMap;

type Lookup<'a> = &'a dyn Fn(&str) -> Option<Value>;

pub(crate) fn statement(statement: &Statement, scope: &mut Scope, lookup: Lookup<'_>) -> Result<(), Failed> {
    let mut eval = Eval { line: statement.line, names: &scope.names, lookup, seen: BTreeMap::new() };
    match &statement.kind {
        What::Assert { text, holds, message } => {
            if eval.value(holds)?.holds() {
                return Ok(());
            }
            let values = std::mem::take(&mut eval.seen).into_iter().collect();
            let message =
                message.as_ref().map(|message| eval.value(message)).transpose()?.map(|value| value.to_string());
            Err(Failed::Assertion { line: statement.line, text: text.clone(), values, message })
        }
        What::Assign(name, expr) => {
            let value = eval.value(expr)?;
            scope.names.insert(name.clone(), value);
            Ok(())
        }
        What::Print(expr) => {
            let note = expr.as_ref().map(|expr| eval.value(expr)).transpose()?;
            scope.notes.push(note.map(|value| value.to_string()).unwrap_or_default());
            Ok(())
        }
    }
}

struct Eval<'a> {
    line: u32,
    names: &'a BTreeMap<String, Value>,
    lookup: Lookup<'a>,
    /// The names that were read, with their values.
    seen: BTreeMap<String, Value>,
}

impl Eval<'_> {
    fn unsupported(&self, what: impl Into<String>) -> Failed {
        Failed::Unsupported { line: self.line, what: what.into() }
    }

    fn value(&mut self, expr: &Expr) -> Result<Value, Failed> {
        match expr {
            Expr::Constant(value) => Ok(value.clone()),
            Expr::Name(name) => self.name(name),
            Expr::Unary(op, inner) => self.unary(op, inner),
            Expr::Binary(op, both) => {
                let (a, b) = (self.value(&both.0)?, self.value(&both.1)?);
                binary(op, &a, &b).map_err(|why| self.unsupported(why))
            }
            Expr::Compare(first, links) => {
                let mut left = self.value(first)?;
                for (op, right) in links {
                    let right = self.value(right)?;
                    if !self.compare(op, &left, &right)? {
                        return Ok(Value::Bool(false));
                    }
                    left = right;
                }
                Ok(Value::Bool(true))
            }
            Expr::And(both) => {
                let left = self.value(&both.0)?;
                if left.holds() {
                    self.value(&both.1)
                } else {
                    Ok(left)
                }
            }
            Expr::Or(both) => {
                let left = self.value(&both.0)?;
                if left.holds() {
                    Ok(left)
                } else {
                    self.value(&both.1)
                }
            }
            Expr::Not(inner) => Ok(Value::Bool(!self.value(inner)?.holds())),
            Expr::If(parts) => {
                if self.value(&parts.0)?.holds() {
                    self.value(&parts.1)
                } else {
                    self.value(&parts.2)
                }
            }
            Expr::Tuple(all) => Ok(Value::Tuple(all.iter().map(|one| self.value(one)).collect::<Result<_, _>>()?)),
            Expr::Call(name, all) => {
                let all = all.iter().map(|one| self.value(one)).collect::<Result<Vec<_>, _>>()?;
                call(name, &all).ok_or_else(|| self.unsupported(format!("the call `{name}(…)` is not understood")))
            }
        }
    }

    fn name(&mut self, name: &str) -> Result<Value, Failed> {
        let value = self.names.get(name).cloned().or_else(|| (self.lookup)(name));
        let value = value.ok_or_else(|| Failed::UnknownName { line: self.line, name: name.to_owned() })?;
        self.seen.insert(name.to_owned(), value.clone());
        Ok(value)
    }

    fn unary(&mut self, op: &str, inner: &Expr) -> Result<Value, Failed> {
        let value = self.value(inner)?;
        let result = match (op, &value) {
            ("-", Value::Float(value)) => Some(Value::Float(-value)),
            ("+", Value::Float(value)) => Some(Value::Float(*value)),
            (op, value) => value.whole().and_then(|value| match op {
                "-" => value.checked_neg().map(Value::Integer),
                "~" => Some(Value::Integer(!value)),
                _ => Some(Value::Integer(value)),
            }),
        };
        result.ok_or_else(|| self.unsupported(format!("`{op}` is not understood for {value}")))
    }

    fn compare(&self, op: &str, a: &Value, b: &Value) -> Result<bool, Failed> {
        if let "in" | "not in" = op {
            let found = match (a, b) {
                (a, Value::Tuple(all)) => all.iter().any(|one| a.order(one) == Some(Ordering::Equal)),
                (Value::Text(part), Value::Text(text)) => text.contains(part.as_str()),
                _ => return Err(self.unsupported(format!("`{op}` is not understood for {a} and {b}"))),
            };
            return Ok(found == (op == "in"));
        }
        let order = a.order(b);
        match (op, order) {
            ("==", order) => Ok(order == Some(Ordering::Equal)),
            ("!=", order) => Ok(order != Some(Ordering::Equal)),
            ("<", Some(order)) => Ok(order.is_lt()),
            ("<=", Some(order)) => Ok(order.is_le()),
            (">", Some(order)) => Ok(order.is_gt()),
            (">=", Some(order)) => Ok(order.is_ge()),
            _ => Err(self.unsupported(format!("{a} and {b} cannot be compared"))),
        }
    }
}

/// Python's own functions; `None` if the function or its arguments are not understood.
fn call(name: &str, all: &[Value]) -> Option<Value> {
    let whole = |value: f64| (value.abs() < 1e30).then_some(Value::Integer(value as i128));
    match (name, all) {
        ("abs", [value]) => match value {
            Value::Float(value) => Some(Value::Float(value.abs())),
            other => other.whole()?.checked_abs().map(Value::Integer),
        },
        ("min" | "max", [Value::Tuple(inner)]) if !inner.is_empty() => call(name, inner),
        ("min" | "max", [first, rest @ ..]) => {
            let wanted = if name == "min" { Ordering::Less } else { Ordering::Greater };
            let mut best = first;
            for value in rest {
                if value.order(best)? == wanted {
                    best = value;
                }
            }
            Some(best.clone())
        }
        ("len", [Value::Text(text)]) => i128::try_from(text.chars().count()).ok().map(Value::Integer),
        ("len", [Value::Tuple(all)]) => i128::try_from(all.len()).ok().map(Value::Integer),
        ("int", [Value::Float(value)]) => whole(value.trunc()),
        ("int", [Value::Text(text)]) => text.trim().parse().ok().map(Value::Integer),
        ("int", [value]) => value.whole().map(Value::Integer),
        ("float", [value]) => value.real().map(Value::Float),
        // Halves are rounded to the even neighbour.
        ("round", [Value::Float(value)]) => whole(value.round_ties_even()),
        ("round", [value]) => value.whole().map(Value::Integer),
        ("str", [value]) => Some(Value::Text(value.to_string())),
        _ => None,
    }
}
