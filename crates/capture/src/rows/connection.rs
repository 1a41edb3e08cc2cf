//! The rows of a connection: how it was opened and closed, its requests and answers.

use super::{OneFile, S};
use crate::connection::opening::{Opened, Opening};
use crate::exchanges::{Exchange, Exchanges};
use crate::place::Side;
use crate::seen::Way;
use crate::survey::Surveyed;
use ackclock_table::row;

/// A connection of a file.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionRow<'a> {
    /// The file that contains it.
    pub file: &'a OneFile,
    /// The connection.
    pub connection: &'a Surveyed,
}

row! {
    /// A captured connection, with or without data. Its client is the end that opened it, or whose packet was captured first.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CapturedConnection pub of c: &ConnectionRow<'_> {
        /// The capture, as named on the command line.
        file: String = c.file.name.clone();
        /// The connection's number in the file.
        connection: u64 = c.connection.number;
        /// Its client.
        client: String [shown("client"), brief] = c.connection.source(Way::Out).to_string();
        /// Its server.
        server: String [shown("server"), brief] = c.connection.source(Way::Back).to_string();
        /// The VLANs of its first packet, the outer one first (`10`, `10.20`); missing without a tag.
        vlan: Option<String> [shown("VLAN"), brief, seldom] = c.connection.vlans();
        /// When its first packet was captured, since the file's first packet.
        start_s: f64 [unit("s"), shown("start"), scaled("s", 1.0, 3)] = c.file.seconds(c.connection.record.start);
        /// From its first to its last packet.
        lasted_s: f64 [unit("s"), shown("lasted"), scaled("s", 1.0, 3)] =
            (c.connection.record.end - c.connection.record.start) as f64 / S;
        /// `opened`; `half open`: the server answered, and nothing acknowledged the answer; `refused`: a RST answered the SYN;
        /// `unanswered`; `not captured`: the capture has no SYN.
        opening: &'static str [shown("opening"), brief] = c.opening().opened().name();
        /// SYNs of the client.
        syns: u32 [shown("SYNs"), brief] = c.opening().syns.count;
        /// SYNs of the server, which answer them.
        syn_acks: u32 [shown("SYN-ACKs")] = c.opening().answers.count;
        /// From the first SYN to the acknowledgment of its answer.
        setup_s: Option<f64> [unit("s"), shown("set-up"), brief, scaled("ms", 1e3, 1)] = seconds(c.opening().took());
        /// The same if neither SYN was sent twice: a round trip, wherever it was captured.
        initial_rtt_s: Option<f64> [unit("s")] = seconds(c.opening().round_trip());
        /// Who sent the first FIN or RST, and which: `FIN of the client` and the like; missing if none was captured.
        closed_by: Option<&'static str> [shown("closed by"), brief] = c.closed_by();
        /// The frame of that FIN or RST.
        closed_frame: Option<u64> = c.closing().map(|(_, _, frame)| frame);
        /// Requests that were answered.
        exchanges: u64 [shown("exchanges"), brief, seldom] = c.exchanges().count;
        /// Whether the last request had no answer.
        unanswered: bool = c.exchanges().unanswered;
        /// The total time from the last segments of requests to the first segments of their answers, as seen where it was captured.
        first_byte_s: f64 [unit("s"), shown("to first byte"), seldom, scaled("s", 1.0, 3)] = c.exchanges().first_byte as f64 / S;
        /// The part of it that the server took: without a round trip for each exchange, if it was captured at the client. Missing
        /// if it was captured elsewhere than at an end, or if the round trip is unknown.
        server_s: Option<f64> [unit("s"), shown("server"), brief, scaled("s", 1.0, 3)] = c.server().map(|s| s as f64 / S);
        /// The rest of it, for the network; missing as `server_s` is.
        network_s: Option<f64> [unit("s"), shown("network"), seldom, scaled("s", 1.0, 3)] =
            c.server().map(|s| (c.exchanges().first_byte - s) as f64 / S);
        /// The total time from the first to the last segments of answers.
        answers_s: f64 [unit("s"), shown("answers"), brief, seldom, scaled("s", 1.0, 3)] = c.exchanges().answers as f64 / S;
        /// The total time from the last segments of answers to the next requests.
        client_s: f64 [unit("s"), shown("client"), brief, seldom, scaled("s", 1.0, 3)] = c.exchanges().client as f64 / S;
    }
}

row! {
    /// A request and its answer.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CapturedExchange pub of (c, e): (&ConnectionRow<'_>, &Exchange) {
        /// The capture, as named on the command line.
        file: String = c.file.name.clone();
        /// The connection's number in the file.
        connection: u64 = c.connection.number;
        /// The frame of the request's first segment.
        frame: u64 [shown("frame")] = e.frame;
        /// When the request began, since the file's first packet.
        time_s: f64 [unit("s"), shown("time"), scaled("s", 1.0, 6)] = c.file.seconds(e.request.0);
        /// From the request's first to its last segment.
        request_s: f64 [unit("s"), shown("request"), scaled("ms", 1e3, 1)] = (e.request.1 - e.request.0) as f64 / S;
        /// From the request's last segment to its acknowledgment; missing if the answer was faster.
        acked_s: Option<f64> [unit("s"), shown("acknowledged"), scaled("ms", 1e3, 1)] = seconds(e.acked.map(|at| at - e.request.1));
        /// From the request's last segment to the answer's first.
        first_byte_s: Option<f64> [unit("s"), shown("first byte"), scaled("ms", 1e3, 1)] = seconds(e.first_byte());
        /// From the request's last segment to the answer's last.
        last_byte_s: f64 [unit("s"), shown("last byte"), scaled("ms", 1e3, 1)] = (e.end - e.request.1) as f64 / S;
        /// The frame of the answer's first segment.
        answer_frame: Option<u64> [shown("answer")] = e.answer.map(|(_, frame)| frame);
    }
}

fn seconds(nanos: Option<i64>) -> Option<f64> {
    nanos.map(|t| t as f64 / S)
}

/// Every connection, file by file; of two files with the two ends of a connection, in the one of the sender of more data.
pub fn connections(files: &[OneFile]) -> impl Iterator<Item = ConnectionRow<'_>> {
    files.iter().flat_map(|file| {
        let all = file.found.connections.iter();
        let own = all.filter(|c| c.beside.is_none_or(|other| other.sent_here == c.record.main_way()));
        own.map(move |connection| ConnectionRow { file, connection })
    })
}

impl<'a> ConnectionRow<'a> {
    fn opening(&self) -> &'a Opening {
        &self.connection.record.opening
    }

    /// Its requests and answers.
    pub fn exchanges(&self) -> &'a Exchanges {
        &self.connection.exchanges
    }

    /// What became of the attempt to open it.
    pub fn opened(&self) -> Opened {
        self.opening().opened()
    }

    /// Each exchange that is kept.
    pub fn each_exchange(&self) -> Vec<CapturedExchange> {
        self.exchanges().kept.iter().map(|e| CapturedExchange::of((self, e))).collect()
    }

    /// The first FIN or RST.
    fn closing(&self) -> Option<(Way, i64, u64)> {
        let Opening { fin, reset, .. } = *self.opening();
        fin.into_iter().chain(reset).min_by_key(|(_, at, frame)| (*at, *frame))
    }

    fn closed_by(&self) -> Option<&'static str> {
        let closing = self.closing()?;
        let is_reset = self.opening().reset == Some(closing);
        Some(match (is_reset, closing.0) {
            (false, Way::Out) => "FIN of the client",
            (false, Way::Back) => "FIN of the server",
            (true, Way::Out) => "RST of the client",
            (true, Way::Back) => "RST of the server",
        })
    }

    /// The time that the server took for all answers, nanoseconds.
    pub fn server(&self) -> Option<i64> {
        let Exchanges { count, first_byte, .. } = *self.exchanges();
        if count == 0 {
            return None;
        }
        match self.connection.record.place.side(Way::Out) {
            Side::Receiver => Some(first_byte),
            Side::Sender => {
                let round_trip = self.opening().round_trip().or(self.connection.record.way(Way::Out).rtt.min)?;
                Some((first_byte - round_trip.saturating_mul(i64::try_from(count).unwrap_or(i64::MAX))).max(0))
            }
            Side::Middle => None,
        }
    }
}
