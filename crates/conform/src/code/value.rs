//! Values of the code, with Python 3's operators.

use std::cmp::Ordering;
use std::fmt;

/// A value of the code between `%{` and `}%`.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Integer(i128),
    /// A number with a fraction.
    Float(f64),
    /// `True` or `False`; 1 and 0 in arithmetic.
    Bool(bool),
    /// Text.
    Text(String),
    /// `(a, b)`
    Tuple(Vec<Value>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value:?}"),
            Value::Bool(value) => f.write_str(if *value { "True" } else { "False" }),
            Value::Text(value) => f.write_str(value),
            Value::Tuple(all) => {
                let all: Vec<String> = all.iter().map(Value::to_string).collect();
                write!(f, "({}{})", all.join(", "), if all.len() == 1 { "," } else { "" })
            }
        }
    }
}

impl Value {
    /// Whether it counts as true.
    pub(crate) fn holds(&self) -> bool {
        match self {
            Value::Integer(value) => *value != 0,
            Value::Float(value) => *value != 0.0,
            Value::Bool(value) => *value,
            Value::Text(value) => !value.is_empty(),
            Value::Tuple(all) => !all.is_empty(),
        }
    }

    pub(crate) fn whole(&self) -> Option<i128> {
        match self {
            Value::Integer(value) => Some(*value),
            Value::Bool(value) => Some(i128::from(*value)),
            Value::Float(_) | Value::Text(_) | Value::Tuple(_) => None,
        }
    }

    pub(crate) fn real(&self) -> Option<f64> {
        match self {
            Value::Float(value) => Some(*value),
            other => other.whole().map(|value| value as f64),
        }
    }

    /// How two values compare; `None` if they are not comparable.
    pub(crate) fn order(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
            (Value::Tuple(a), Value::Tuple(b)) => {
                for (a, b) in a.iter().zip(b) {
                    match a.order(b)? {
                        Ordering::Equal => {}
                        different => return Some(different),
                    }
                }
                Some(a.len().cmp(&b.len()))
            }
            _ => match (self.whole(), other.whole()) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                _ => self.real()?.partial_cmp(&other.real()?),
            },
        }
    }
}

/// Computes `a op b`. The error names the impossible operation.
pub(crate) fn binary(op: &str, a: &Value, b: &Value) -> Result<Value, String> {
    if let (Value::Text(text), "%") = (a, op) {
        return format(text, b).map(Value::Text);
    }
    if let (Value::Text(a), "+", Value::Text(b)) = (a, op, b) {
        return Ok(Value::Text(format!("{a}{b}")));
    }
    let refused = || format!("`{op}` is not understood for {a} and {b}");
    let division = matches!(op, "/" | "//" | "%");
    if division && b.real() == Some(0.0) {
        return Err(format!("{a} {op} 0 divides by zero"));
    }
    match (a.whole(), b.whole()) {
        (Some(x), Some(y)) if op != "/" && !(op == "**" && y < 0) => {
            whole(op, x, y).map(Value::Integer).ok_or_else(refused)
        }
        _ => match (a.real(), b.real()) {
            (Some(x), Some(y)) => real(op, x, y).map(Value::Float).ok_or_else(refused),
            _ => Err(refused()),
        },
    }
}

fn whole(op: &str, x: i128, y: i128) -> Option<i128> {
    match op {
        "+" => x.checked_add(y),
        "-" => x.checked_sub(y),
        "*" => x.checked_mul(y),
        // Towards minus infinity.
        "//" => x.checked_div(y)?.checked_sub(i128::from(x.checked_rem(y)? != 0 && (x < 0) != (y < 0))),
        "%" => {
            let rest = x.checked_rem(y)?;
            if rest != 0 && (rest < 0) != (y < 0) {
                rest.checked_add(y)
            } else {
                Some(rest)
            }
        }
        "**" => x.checked_pow(u32::try_from(y).ok()?),
        "<<" => x.checked_mul(2i128.checked_pow(u32::try_from(y).ok()?)?),
        ">>" => Some(x >> u32::try_from(y).ok()?.min(127)),
        "&" => Some(x & y),
        "|" => Some(x | y),
        "^" => Some(x ^ y),
        _ => None,
    }
}

fn real(op: &str, x: f64, y: f64) -> Option<f64> {
    match op {
        "+" => Some(x + y),
        "-" => Some(x - y),
        "*" => Some(x * y),
        "/" => Some(x / y),
        "//" => Some((x / y).floor()),
        "%" => Some(x - y * (x / y).floor()),
        // Whole powers only: they are exact on every platform.
        "**" if y.fract() == 0.0 && y.abs() <= 1024.0 => {
            let power = (0..y.abs() as u32).fold(1.0, |power, _| power * x);
            Some(if y < 0.0 { 1.0 / power } else { power })
        }
        _ => None,
    }
}

/// `text % values`
fn format(text: &str, values: &Value) -> Result<String, String> {
    let values = match values {
        Value::Tuple(all) => all.as_slice(),
        one => std::slice::from_ref(one),
    };
    let (mut out, mut rest, mut values) = (String::new(), text, values.iter());
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let spec = rest.find(|c: char| c.is_ascii_alphabetic() || c == '%').ok_or("a format ends after `%`")?;
        let (shape, kind) = (&rest[..spec], &rest[spec..=spec]);
        rest = &rest[spec + 1..];
        if kind == "%" {
            out.push('%');
            continue;
        }
        let value = values.next().ok_or("a format has more places than values")?;
        let (width, digits) = shape.split_once('.').map_or((shape, None), |(width, digits)| (width, Some(digits)));
        let digits = digits.map_or(Some(6), |digits| digits.parse().ok()).filter(|n: &usize| *n <= 40);
        let shown = match (kind, value.whole(), value.real()) {
            ("s" | "r", ..) => Some(value.to_string()),
            ("d" | "i" | "u", Some(whole), _) => Some(whole.to_string()),
            ("d" | "i" | "u", None, Some(real)) => Some(format!("{}", real.trunc())),
            ("x", Some(whole), _) if whole >= 0 => Some(format!("{whole:x}")),
            ("f", _, Some(real)) => digits.map(|digits| format!("{real:.digits$}")),
            _ => None,
        };
        let width = if width.is_empty() { Some(0) } else { width.parse::<usize>().ok().filter(|n| *n <= 80) };
        match (shown, width) {
            (Some(shown), Some(width)) => out.push_str(&format!("{shown:>width$}")),
            _ => return Err(format!("the format `%{shape}{kind}` is not understood for {value}")),
        }
    }
    out.push_str(rest);
    if values.next().is_some() {
        Err("a format has fewer places than values".to_owned())
    } else {
        Ok(out)
    }
}
