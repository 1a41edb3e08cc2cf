//! The code between `%{` and `}%`.

use ackclock_conform::code::{parse, Failed, Scope, Value};
use ackclock_conform::script::syntax::Code;

fn run(text: &str) -> Result<Scope, Failed> {
    let program = parse(&Code { line: 7, text: text.to_owned() }).unwrap_or_else(|why| panic!("{text}: {why}"));
    let mut scope = Scope::default();
    program.run(&mut scope, &|name| match name {
        "tcpi_snd_cwnd" => Some(Value::Integer(10)),
        "tcpi_options" => Some(Value::Integer(7)),
        "TCP_CA_Recovery" => Some(Value::Integer(3)),
        _ => None,
    })?;
    Ok(scope)
}

#[test]
fn expressions_mean_what_python_3_means() {
    for holds in [
        "7 / 2 == 3.5",
        "7 // 2 == 3",
        "-7 // 2 == -4",
        "-7 % 3 == 2",
        "7 % -3 == -2",
        "2 ** 3 ** 2 == 512",
        "-2 ** 2 == -4",
        "1 < 2 < 3",
        "not 1 < 2 < 2",
        "1 | 6 & 3 == 3",
        "(tcpi_options & 4) != 0",
        "1 << 4 == 16",
        "~5 == -6",
        "0x1f == 31",
        "tcpi_snd_cwnd in (9, 10)",
        "3 not in (1, 2)",
        "1 == 2 or tcpi_snd_cwnd == 10",
        "not (1 and 0)",
        "1.5e3 == 1500",
        "abs(-3) == 3 and min(3, 1, 2) == 1 and max(1.5, 1) == 1.5",
        "len('abc') == 3",
        "int(3.9) == 3",
        "round(2.5) == 2",
        "float(1) == 1.0",
        "str(1) + 'a' == '1a'",
        "(1 if tcpi_snd_cwnd > 9 else 2) == 1",
        "True == 1",
        "2 ** -1 == 0.5",
        "(tcpi_snd_cwnd ==\n 10)",
        "tcpi_snd_cwnd == \\\n 10",
        "'%d of %s' % (1, 'x') == '1 of x'",
        "'%.2f%%' % 1.5 == '1.50%'",
    ] {
        assert!(run(&format!("assert {holds}")).is_ok(), "{holds}: {:?}", run(&format!("assert {holds}")));
        let not = run(&format!("assert not ({holds})"));
        assert!(matches!(not, Err(Failed::Assertion { .. })), "{holds}: {not:?}");
    }
}

#[test]
fn an_assertion_that_fails_shows_its_text_its_values_and_its_message() {
    let failed = run("\nassert tcpi_snd_cwnd == 7, 'cwnd is %d' % tcpi_snd_cwnd").unwrap_err();
    assert_eq!(failed.to_string(), "line 8: `tcpi_snd_cwnd == 7` does not hold: tcpi_snd_cwnd = 10 (cwnd is 10)");
}

#[test]
fn statements_are_on_lines_or_between_semicolons_and_share_their_variables() {
    let scope = run("a = 1; b = a + 1 # two\nprint(b)\nprint 'x'\nassert b == 2, b;").unwrap();
    assert_eq!(scope.names["b"], Value::Integer(2));
    assert_eq!(scope.notes, ["2", "x"]);
}

#[test]
fn what_is_not_understood_does_not_hold_and_does_not_fail_as_an_assertion() {
    assert_eq!(run("assert tcpi_new == 1"), Err(Failed::UnknownName { line: 7, name: "tcpi_new".to_owned() }));
    for text in ["assert 1 / 0", "assert open('x')", "assert 'a' < 1", "assert 9 ** 999", "a = '%q' % 1"] {
        assert!(matches!(run(text), Err(Failed::Unsupported { line: 7, .. })), "{text}: {:?}", run(text));
    }
}

#[test]
fn damaged_code_is_refused_with_its_line_and_what_is_allowed() {
    for (text, message) in [
        ("import os", "line 7: found `import`, allowed here: `assert`, `print` or `name = value`"),
        ("\nassert", "line 8: found the end of the statement, allowed here: a number, a name, text or `(`"),
        ("assert 1 2", "line 7: found `2`, allowed here: an operator or the end of the statement"),
        ("assert (1", "line 7: found the end of the statement, allowed here: `)`, `,` or an operator"),
        ("assert 1 ? 2", "line 7: found `?`, allowed here: a number, a name, text or an operator"),
    ] {
        let refused = parse(&Code { line: 7, text: text.to_owned() }).unwrap_err();
        assert_eq!(refused.to_string(), message);
    }
    let deep = format!("assert {}1", "(".repeat(100_000));
    assert!(parse(&Code { line: 7, text: deep }).is_err());
    let long = format!("assert 1{}", "+1".repeat(100_000));
    assert!(parse(&Code { line: 7, text: long }).is_err());
}
