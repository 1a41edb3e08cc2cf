//! Assertions about `tcp_info`.

use super::Runner;
use crate::code::{parse, Failed, Value};
use crate::script::syntax::Code;
use crate::verdict::{Fault, Reason};

/// Names of numbers that scripts compare with: `enum tcp_ca_state` and `TCPI_OPT_*` (`include/uapi/linux/tcp.h`), the states of
/// `include/net/tcp_states.h`, and FreeBSD's names for them.
const CONSTANTS: &[(&str, i64)] = &[
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCPI_OPT_TIMESTAMPS", 1),
    ("TCPI_OPT_SACK", 2),
    ("TCPI_OPT_WSCALE", 4),
    ("TCPI_OPT_ECN", 8),
    ("TCPI_OPT_ECN_SEEN", 16),
    ("TCPI_OPT_SYN_DATA", 32),
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
    ("TCPI_ESTABLISHED", 1),
    ("TCPI_SYN_SENT", 2),
    ("TCPI_SYN_RECEIVED", 3),
    ("TCPI_FIN_WAIT_1", 4),
    ("TCPI_FIN_WAIT_2", 5),
    ("TCPI_TIME_WAIT", 6),
    ("TCPI_CLOSED", 7),
    ("TCPI_CLOSE_WAIT", 8),
    ("TCPI_LAST_ACK", 9),
    ("TCPI_LISTEN", 10),
    ("TCPI_CLOSING", 11),
    ("TCP_INFINITE_SSTHRESH", 0x7fff_ffff),
];

/// A number by its name.
pub(super) fn constant(name: &str) -> Option<i64> {
    CONSTANTS.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

impl Runner<'_> {
    pub(super) fn assert(&mut self, code: &Code) -> Result<(), Fault> {
        let unknown = |line: u32, text: String| Fault::new(line, Reason::Unknown, text);
        let program = parse(code).map_err(|why| unknown(why.line, why.reason))?;
        let socket = self.sockets.under_test;
        let (world, now) = (&self.world, self.world.now());
        let lookup = |name: &str| -> Option<Value> {
            let field = || socket.and_then(|socket| world.info(now, socket, name));
            constant(name).or_else(field).map(|number| Value::Integer(number.into()))
        };
        let result = program.run(&mut self.scope, &lookup);
        result.map_err(|why| match &why {
            Failed::Assertion { line, .. } => Fault::new(*line, Reason::Assertion, sentence(&why)),
            Failed::UnknownName { line, .. } | Failed::Unsupported { line, .. } => unknown(*line, sentence(&why)),
        })
    }
}

/// The message without its line, which the fault contains.
fn sentence(why: &Failed) -> String {
    let text = why.to_string();
    text.split_once(": ").map_or(text.clone(), |(_, rest)| rest.to_owned())
}
