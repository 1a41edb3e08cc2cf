//! A stack in the form of the command line: its name, or its name with parameters, as in `rack-tlp,rto.min=200 ms`.

use crate::error::{nearest, ScenarioError};
use ackclock_tcp::stack::Stack;

/// A stack for every flow, with parameters for it alone.
pub(super) struct Chosen<'a> {
    /// The named stack.
    pub(super) stack: Stack,
    /// Paths and values, as written.
    pub(super) set: Vec<(&'a str, &'a str)>,
}

impl<'a> Chosen<'a> {
    /// Reads `NAME` or `NAME,PATH=VALUE,…`. The whole text, parameters included, is the stack's name, unless one of them is `name`.
    ///
    /// # Errors There is no such stack, or a part is not a parameter.
    pub(super) fn read(text: &'a str, allowed: impl FnOnce(&str) -> String) -> Result<Self, ScenarioError> {
        let mut parts = split(text).into_iter();
        let name = parts.next().unwrap_or("");
        let mut stack = Stack::named(name).ok_or_else(|| {
            let near = nearest(name, Stack::names()).map(|n| format!("\"{n}\""));
            ScenarioError::option("--stack", format!("\"{name}\""), allowed(name)).with_hint(near)
        })?;
        let parameter = |part: &'a str| match part.split_once('=') {
            Some((path, value)) if !path.trim().is_empty() => Ok((path.trim(), value.trim())),
            Some(_) | None => Err(ScenarioError::option(
                "--stack",
                format!("\"{part}\" in \"{text}\""),
                "a stack, then parameters separated by commas, as in rack-tlp,rto.min=200 ms",
            )),
        };
        let set = parts.map(parameter).collect::<Result<Vec<_>, _>>()?;
        if !set.is_empty() {
            text.clone_into(&mut stack.name);
        }
        Ok(Chosen { stack, set })
    }
}

/// Paths and values after a stack's name, as written; parts that are not parameters are left out. For callers that search
/// for algorithms from outside.
pub fn own_parameters(text: &str) -> Vec<(&str, &str)> {
    let own = split(text).into_iter().skip(1).filter_map(|part| part.split_once('='));
    own.map(|(path, value)| (path.trim(), value.trim())).collect()
}

/// Splits the text at commas. Commas inside brackets and quotes belong to a value.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth, mut quote) = (Vec::new(), 0, 0usize, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            (None, _) => {}
        }
    }
    parts.push(text[from..].trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    type Read<'a> = Result<(String, Vec<(&'a str, &'a str)>), String>;

    fn read(text: &str) -> Read<'_> {
        let chosen = Chosen::read(text, |_| "a stack".to_owned()).map_err(|e| e.to_string())?;
        Ok((chosen.stack.name, chosen.set))
    }

    #[test]
    fn a_name_alone_is_the_named_stack() {
        assert_eq!(read("rfc-6675"), Ok(("rfc-6675".to_owned(), vec![])));
    }

    #[test]
    fn commas_part_parameters_and_those_within_a_value_do_not() {
        let text = r#"rfc-6675, rto.min=1 s,detect.threshold={ kind = "fixed", k = 5 },name="a,b""#;
        let set = vec![("rto.min", "1 s"), ("detect.threshold", r#"{ kind = "fixed", k = 5 }"#), ("name", r#""a,b""#)];
        assert_eq!(read(text), Ok((text.to_owned(), set)));
    }

    #[test]
    fn a_text_is_a_stack_with_its_parameters_or_says_what_is_allowed() {
        let stack = crate::scenario::stack_of("linux-2025,rto.min=300 ms,detect.tlp=false").map_err(|e| e.to_string());
        let shown = stack.map(|stack| format!("{:?} {:?}", stack.rto, stack.detect));
        assert!(shown.is_ok_and(|s| s.contains("min: Nanos(300000000)") && s.contains("tlp: false")));
        let wrong = crate::scenario::stack_of("linux-2025,rto.mim=300 ms").map_err(|e| e.to_string());
        assert!(wrong.is_err_and(|e| e.contains("rto.min")));
    }

    #[test]
    fn what_is_no_stack_and_what_is_no_parameter_is_refused() {
        let allowed = "allowed: a stack, then parameters separated by commas, as in rack-tlp,rto.min=200 ms";
        let found = "found \"rfc-667\", allowed: a stack; did you mean \"rfc-6675\"?";
        assert!(read("rfc-667,rto.min=1 s").is_err_and(|e| e.ends_with(found)));
        for text in ["rfc-6675,", "rfc-6675,rto.min", "rfc-6675,=3"] {
            assert!(read(text).is_err_and(|e| e.ends_with(allowed)), "{:?}", read(text));
        }
    }
}
