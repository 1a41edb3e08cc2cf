//! The messages about lines that cannot be read.

use ackclock_conform::script::parse;

fn refused(text: &str) -> String {
    parse("x.pkt", text, &[]).map_or_else(|why| why.to_string(), |_| format!("{text} was read"))
}

#[test]
fn a_word_that_does_not_belong_is_shown_with_its_place_and_the_alternatives() {
    assert_eq!(
        refused("\n+0 < . 1:1(0) ak 1"),
        "x.pkt:2:15: found `ak`, allowed here: `ack N`, `win N`, `urg N`, options in `<...>` or the end of the line"
    );
}

#[test]
fn a_line_that_does_not_begin_with_a_time_is_reported() {
    assert_eq!(
        refused("+0 > . 1:1(0)\nclose(3) = 0"),
        "x.pkt:2:1: found `close`, allowed here: a time such as `0.5`, `+0` or `*`"
    );
}

#[test]
fn each_damaged_line_names_what_was_found_or_why_it_makes_no_sense() {
    for (line, parts) in [
        ("+x close(3) = 0", &["x.pkt:1:2: found `x`", "a time in seconds"][..]),
        ("+0 close(3)", &["found the end of the script", "`=`"]),
        ("+0 close(3 = 0", &["1:12: found `=`", "`)`", "`,`"]),
        ("+0 > . 1:1(0\n+0 close(3) = 0", &["1:13: found the end of the line", "`)`"]),
        ("+0 < Q 1:1(0)", &["found `Q`", "flags"]),
        ("+0 < . 1:1(0) <mms 5>", &["found `mms`", "`mss N`"]),
        ("+0 < . 1:5(3)", &["1:8: `1:5(3)` does not fit together: 1 + 3 is 4, not 5"]),
        ("+0 < . 1:1(0) win 65536", &["the window is `65536`", "out of range: from 0 to 65535"]),
        ("+0 < . ...(0)", &["`...(len)` is only for packets that are expected"]),
        ("+0 < . 1:1(0) <...>", &["`<...>` is only for packets that are expected"]),
        ("+0 < [ect01] . 1:1(0)", &["`ect01` is only for packets that are expected"]),
        ("* close(3) = 0", &["the time `*` is only for packets that are expected"]),
        ("0~1 < . 1:1(0)", &["a range of times is only for packets that are expected"]),
        ("2~1 > . 1:1(0)", &["a range of times ends before it begins"]),
        ("-1 close(3) = 0", &["the time `-1` is negative"]),
        ("+0 < S.E5 1:1(0)", &["a digit of the ACE counter and one of its bits"]),
        ("+0 f(\"a) = 0", &["1:6: text that begins with `\"`"]),
        ("+0 %{ assert 1", &["has no `}%`"]),
        ("/* x", &["1:1: a comment"]),
        ("#endif\n", &["an `#endif` without an `#ifdef`"]),
        ("#define A\n", &["found `#define A`", "`#ifdef NAME`"]),
        ("", &["found the end of the script"]),
        ("0 f() = 1\n`a`\n0 f() = 1", &["3:1: found `0`", "the end of the script"]),
    ] {
        let message = refused(line);
        for part in parts {
            assert!(message.contains(part), "{line:?}: {message:?} lacks {part:?}");
        }
    }
}
