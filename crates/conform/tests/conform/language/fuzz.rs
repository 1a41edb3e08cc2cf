//! Random and damaged text never stops the reader.

use super::folders::scripts;
use ackclock_conform::code;
use ackclock_conform::script::parse;
use ackclock_conform::script::syntax::Code;
use proptest::prelude::*;

const SCRIPT: &str = "--define=A=3\n`init`\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = A\n#ifdef B\n\
    +0...0.1 poll([{fd=3, events=POLLIN|POLLOUT}], 1, 100) = -1 EAGAIN (text)\n#else\n+0 f(\"a\\x41\", {onoff=1}) = 0x2\n#endif\n\
    +.1 < [ect0] SEW 0:0(0) win 5 <mss 1460,sackOK,TS val 1 ecr 2,sack 1:2 3:4,ECN e0b 1>\n* > P.5 ...(10) ack 1 <...>\n\
    +0 < icmp unreachable frag_needed mtu 9 [1:2(1)]\n+0 < ipv6 fd3d::1 > fd3d::2: gre: . 1:1(0) /* x */\n+0 %{ assert a }%\n";

proptest! {
    #[test]
    fn random_text_is_read_or_refused_but_never_panics(text in "\\PC*", code in "[a-z0-9 ()+*/%<>='\".,;\\n\\\\-]{0,80}") {
        let _ = parse("x.pkt", &text, &["B"]);
        let _ = code::parse(&Code { line: 1, text });
        let _ = code::parse(&Code { line: 1, text: code });
    }

    #[test]
    fn a_damaged_script_is_read_or_refused_with_a_place_inside_it(
        which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), cut in 0usize..9, put in "\\PC{0,4}",
    ) {
        let mut text = SCRIPT.to_owned();
        if let Some(scripts) = scripts()
            && which.index(4) > 0 {
                text = std::fs::read_to_string(&scripts[which.index(scripts.len())]).unwrap();
            }
        let chars: Vec<char> = text.chars().collect();
        let at = at.index(chars.len());
        let damaged: String = chars[..at].iter().copied().chain(put.chars()).chain(chars[(at + cut).min(chars.len())..].iter().copied()).collect();
        if let Err(why) = parse("x.pkt", &damaged, &["B"]) {
            prop_assert!((1..=damaged.split('\n').count()).contains(&(why.line as usize)), "{why}");
            prop_assert!(why.column >= 1);
        }
    }
}

#[test]
fn deep_nesting_is_refused() {
    for deep in ["[", "{a=", "{", "a=", "f(["] {
        let text = format!("0 g({}", deep.repeat(200_000));
        assert!(parse("x.pkt", &text, &[]).is_err(), "{deep}");
    }
    assert!(parse("x.pkt", &"#ifdef A\n".repeat(1000), &["A"]).is_err());
}
