//! For connections over a real network only: ways to end when the peer is gone.
//!
//! Source: RFC 9293 §3.8.3, §3.9.1.1 (user timeout), §3.8.4 (keep-alive), §3.6.1 (a close after which nobody reads); RFC 5482 §3,
//! §4.2. Linux's `tcp_keepalive_timer` and `tcp_fin_timeout` for FIN-WAIT-2.
//!
//! | what | here |
//! | --- | --- |
//! | user timeout (RFC 5482), R2 (RFC 9293 §3.8.3) | `user_timeout`; enforced in `sender/patience.rs` |
//! | keep-alive | `keep_alive` |
//! | a FIN-WAIT-2 without an application (Linux's orphans) | `orphan` |
//!
//! While one of the last two is enabled, every segment takes the path for rare segments, which records when the peer last sent
//! something.

use super::{CloseReason, Connection, State, SynRules};
use crate::segment::Segment;
use crate::sender::{Sender, TooBig};
use crate::seq::Offset;
use crate::time::{earliest, Nanos, Time};
use crate::units::Bytes;

/// The user timeout of a connection opened by a handshake (RFC 9293 §3.9.1.1: "five minutes"); RFC 9293 §3.8.3 asks for at least
/// 100 s.
pub(super) const USER_TIMEOUT: Nanos = Nanos::from_secs(300);
/// How long an orphan stays in FIN-WAIT-2 (Linux's `tcp_fin_timeout`; no RFC has a number).
const FIN_WAIT_2: Nanos = Nanos::from_secs(60);

/// Keep-alive (RFC 9293 §3.8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// How long the peer must be silent before the first probe. Default: 2 h (RFC 9293 §3.8.4: no less, unless the application
    /// asks for it).
    pub idle: Nanos,
    /// Time between probes. Default: 75 s, as in Linux and BSD.
    pub interval: Nanos,
    /// Unanswered probes after which the connection is over, at least 1. Default: 9, as in Linux and BSD.
    pub probes: u32,
}

impl Default for KeepAlive {
    fn default() -> Self {
        KeepAlive { idle: Nanos::from_secs(2 * 3600), interval: Nanos::from_secs(75), probes: 9 }
    }
}

/// The rules of RFC 793 that apply in place of RFC 5961's, as in FreeBSD (`net.inet.tcp.insecure_rst`, `insecure_syn`). With
/// them, anyone who guesses a number in the window can end the connection. Default: neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Insecure {
    /// A RST anywhere in the window ends the connection.
    pub rst: bool,
    /// A SYN anywhere in the window ends the connection, and is answered with a RST.
    pub syn: bool,
}

/// The enabled features and the clocks that they need.
#[derive(Debug)]
pub(super) struct Live {
    /// `None`: the connection is never given up.
    user_timeout: Option<Nanos>,
    /// The application chose the user timeout.
    chosen: bool,
    keep_alive: Option<KeepAlive>,
    orphan: bool,
    /// Data arrived for an application that had gone.
    pub(super) late_data: bool,
    black_holes: bool,
    nagle: bool,
    cork: bool,
    pub(super) insecure: Insecure,
    /// When the last segment of the peer arrived, and the number of probes since then.
    heard: Time,
    probes: u32,
    /// When the last of these probes was due. A probe that is late, after a sleep of the machine, gets its full time.
    probed: Time,
    probe_due: bool,
    /// When an orphan's FIN-WAIT-2 ends.
    fin_wait_2: Option<Time>,
}

impl Default for Live {
    fn default() -> Self {
        Live {
            user_timeout: Some(USER_TIMEOUT),
            chosen: false,
            keep_alive: None,
            orphan: false,
            late_data: false,
            black_holes: false,
            nagle: false,
            cork: false,
            insecure: Insecure::default(),
            heard: Time::ZERO,
            probes: 0,
            probed: Time::ZERO,
            probe_due: false,
            fin_wait_2: None,
        }
    }
}

impl Live {
    /// Passes the settings to the sending half once the connection is established.
    pub(super) fn apply(&self, tx: &mut Sender) {
        tx.set_user_timeout(self.user_timeout);
        tx.find_black_holes(self.black_holes);
        tx.set_nagle(self.nagle);
        tx.set_cork(self.cork);
        if self.orphan {
            tx.orphan();
        }
    }

    /// Whether every segment must be seen.
    pub(super) fn watches(&self) -> bool {
        self.keep_alive.is_some() || self.orphan
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        earliest(self.next_probe(), self.fin_wait_2)
    }

    fn next_probe(&self) -> Option<Time> {
        let k = self.keep_alive?;
        if self.probes > 0 {
            return Some(self.probed + k.interval);
        }
        // RFC 5482 §4.2: keep-alive must not end a connection that an adopted user timeout would still keep.
        let idle = k.idle.max(self.user_timeout.filter(|_| self.chosen).unwrap_or_default());
        Some(self.heard + idle)
    }
}

impl Connection {
    /// Sets how long sent data may stay unacknowledged before the connection is given up with [`CloseReason::TimedOut`];
    /// `None`: for ever. Default: 5 minutes after a handshake (RFC 9293 §3.9.1.1), for ever on a connection made without one.
    ///
    /// This is RFC 5482's user timeout, which does not run while nothing is outstanding; its option is not sent. A peer that
    /// closes its window and keeps answering is not given up (RFC 1122 §4.2.2.17), unless the application has gone
    /// ([`Connection::orphan`]). A chosen timeout also bounds the handshake. The timeout is checked when a retransmission or a probe
    /// is due, so it is never shorter than the time to the first of these.
    pub fn set_user_timeout(&mut self, limit: Option<Nanos>) {
        let live = self.live.get_or_insert_default();
        (live.user_timeout, live.chosen) = (limit, true);
        if let Some(h) = &mut self.handshake {
            h.user_timeout = limit;
        }
        if let Some(tx) = &mut self.tx {
            tx.set_user_timeout(limit);
        }
    }

    /// Sets whether and when an idle connection asks if the peer is still there (RFC 9293 §3.8.4). If the peer answers no
    /// probe, the connection ends with [`CloseReason::KeepAlive`]. If a user timeout was set and is longer, the first probe
    /// waits for it (RFC 5482 §4.2). Default: off.
    pub fn set_keep_alive(&mut self, now: Time, keep_alive: Option<KeepAlive>) {
        let live = self.live.get_or_insert_default();
        (live.keep_alive, live.heard, live.probes, live.probe_due) = (keep_alive, now, 0, false);
        self.note_usual();
    }

    /// The application has gone: it writes no more, as after [`Connection::close`], and reads no more. From now on, a peer that
    /// keeps its window closed gets no more time than a silent one; data that nobody will read is answered with a RST (RFC 9293
    /// §3.6.1); and FIN-WAIT-2 ends after a minute with [`CloseReason::FinWait2`].
    pub fn orphan(&mut self, now: Time) {
        self.close();
        if self.closed.is_some() {
            return;
        }
        self.live.get_or_insert_default().orphan = true;
        if let Some(tx) = &mut self.tx {
            tx.orphan();
        }
        self.note_usual();
        if self.rx.as_ref().is_some_and(|rx| rx.unread() > 0) {
            return self.abort();
        }
        self.watch_fin_wait_2(now);
    }

    /// The network reports that full segments may carry only `mss` bytes of payload, because the one that began at `seq` was
    /// too big (RFC 1191 §4, RFC 8201 §4; `mss` is the next hop's MTU less headers and options). The report is accepted if that
    /// segment is outstanding (RFC 5927 §4.1), and only down to 500 bytes, the payload of a packet of 552 bytes with
    /// timestamps. Data that was too large is resent in smaller segments, the first at once and the rest when an ACK arrives;
    /// the window stays as it is (RFC 1191 §6.5).
    pub fn on_too_big(&mut self, now: Time, seq: Offset, mss: u32) -> TooBig {
        self.tx.as_mut().map_or(TooBig::Ignored, |tx| tx.on_too_big(now, seq, mss))
    }

    /// Sets the payload of full segments to `mss` bytes: at most the value agreed on in the handshake, and at least 500 if that
    /// value allows it. Outstanding data stays as it is. A driver uses this to raise the MSS when an old limit of the path may no
    /// longer apply (RFC 8201 §4: after 10 minutes).
    pub fn set_mss(&mut self, mss: u32) {
        if let Some(tx) = &mut self.tx {
            tx.set_mss(mss);
        }
    }

    /// Sets whether a full segment that times out three times in a row counts as too big for a path that does not report it
    /// (RFC 4821 §7.7). If so, full segments then carry 1024 bytes, half of that after the next timeout, and so on. Default:
    /// off, as in Linux.
    pub fn find_black_holes(&mut self, find: bool) {
        self.live.get_or_insert_default().black_holes = find;
        if let Some(tx) = &mut self.tx {
            tx.find_black_holes(find);
        }
    }

    /// Sets whether a small segment waits while an earlier small one is outstanding: Nagle's algorithm (RFC 9293 §3.7.4) in
    /// Minshall's variant, as in Linux. Default: no; `ackclock-wire`'s endpoint turns it on.
    pub fn set_nagle(&mut self, on: bool) {
        self.live.get_or_insert_default().nagle = on;
        if let Some(tx) = &mut self.tx {
            tx.set_nagle(on);
        }
    }

    /// While corked, only full segments are sent (Linux's `TCP_CORK`). Data that waits while nothing is outstanding is sent after
    /// a retransmission timeout, or with the FIN. Default: no.
    pub fn set_cork(&mut self, on: bool) {
        self.live.get_or_insert_default().cork = on;
        if let Some(tx) = &mut self.tx {
            tx.set_cork(on);
        }
    }

    /// Whether ACKs are sent without delay (Linux's `TCP_QUICKACK`). An ACK that waits is sent at once, if everything is
    /// read. The rule for ACKs may let later ones wait again.
    pub fn set_quick_ack(&mut self, quick: bool) {
        if let Some(rx) = &mut self.rx {
            rx.set_quick(quick);
        }
    }

    /// The largest window to advertise from now on, bytes (Linux's `TCP_WINDOW_CLAMP`). A window that was advertised is not taken
    /// back.
    pub fn clamp_window(&mut self, most: Bytes) {
        if let Some(rx) = &mut self.rx {
            rx.clamp(most);
        }
    }

    /// How many repetitions of its SYN-ACK a passive open waits for data instead of an ACK alone (Linux's `TCP_DEFER_ACCEPT`).
    /// Default: 0.
    pub fn defer_accept(&mut self, repetitions: u32) {
        if let Some(h) = &mut self.handshake {
            h.defers = repetitions;
        }
    }

    /// Sets the largest MSS to announce, and so to use, in bytes (`TCP_MAXSEG`). It has no effect after our SYN is sent.
    pub fn limit_mss(&mut self, mss: u32) {
        if let Some(h) = &mut self.handshake {
            h.limit_mss(mss);
        }
    }

    /// How often a SYN is repeated, and when. It has an effect until the connection is established.
    pub fn set_syn_rules(&mut self, rules: SynRules) {
        if let Some(h) = &mut self.handshake {
            h.rules = rules;
        }
    }

    /// Sets which rules of RFC 793 apply in place of RFC 5961's. Default: none.
    pub fn set_insecure(&mut self, insecure: Insecure) {
        self.live.get_or_insert_default().insecure = insecure;
        if let Some(h) = &mut self.handshake {
            h.insecure = insecure;
        }
    }

    /// As [`Connection::write`], with another write to follow at once: until then, the tail of these bytes waits for a full
    /// segment (Linux's `MSG_MORE`).
    pub fn write_more(&mut self, bytes: Bytes) {
        match &mut self.tx {
            Some(tx) => tx.write_more(bytes),
            None => self.write(bytes),
        }
    }

    /// Whether one check rules out every rare case.
    pub(super) fn is_usual(&self) -> bool {
        let watched = self.live.as_ref().is_some_and(|live| live.watches());
        self.handshake.is_none() && self.closed.is_none() && self.time_wait.is_none() && !watched
    }

    pub(super) fn note_usual(&mut self) {
        self.usual = self.is_usual();
    }

    /// A segment of the peer with `bytes` of payload was accepted.
    pub(super) fn heard(&mut self, now: Time, bytes: u32) {
        let Some(live) = &mut self.live else { return };
        (live.heard, live.probes, live.probe_due) = (now, 0, false);
        if live.orphan && bytes > 0 {
            live.late_data = true;
            return self.abort();
        }
        self.watch_fin_wait_2(now);
    }

    /// Starts or ends the clock of an orphan's FIN-WAIT-2.
    pub(super) fn watch_fin_wait_2(&mut self, now: Time) {
        let waits = self.state() == State::FinWait2;
        if let Some(live) = self.live.as_mut().filter(|live| live.orphan) {
            live.fin_wait_2 = if waits { live.fin_wait_2.or(Some(now + FIN_WAIT_2)) } else { None };
        }
    }

    /// The end of TIME-WAIT, and the timers of this file.
    #[cold]
    pub(super) fn on_rare_timer(&mut self, now: Time) {
        if self.time_wait.is_some_and(|t| t <= now) {
            return self.end(CloseReason::Finished);
        }
        let Some(live) = &mut self.live else { return };
        if live.fin_wait_2.is_some_and(|t| t <= now) {
            return self.end(CloseReason::FinWait2);
        }
        let (Some(k), Some(at)) = (live.keep_alive, live.next_probe()) else { return };
        if at > now {
            return;
        }
        // RFC 9293 §3.8.4: only while nothing is outstanding; outstanding data has its own timers.
        if self.time_wait.is_some() || self.tx.as_ref().is_some_and(|tx| !tx.all_acked()) {
            (live.heard, live.probes) = (now, 0);
        } else if live.probes >= k.probes.max(1) {
            // Linux and BSD tell the peer, should it still be there (`tcp_keepalive_timer`, `tcp_drop`).
            self.abort();
            self.closed = Some(CloseReason::KeepAlive);
        } else {
            live.probes += 1;
            (live.probed, live.probe_due) = (now, true);
        }
    }

    /// Whether a keep-alive probe is due.
    pub(super) fn keep_alive_due(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.probe_due)
    }

    /// RFC 9293 §3.8.4: a segment without data just below the offset that the peer expects; the peer answers it with an ACK.
    pub(super) fn write_keep_alive(&mut self, now: Time, out: &mut Segment) {
        let seq = self.tx.as_ref().map_or(Offset::DATA, |tx| tx.ack_seq());
        *out = Segment { flags: Segment::ACK, seq: Offset(seq.0 - 1), ..Segment::EMPTY };
        if let Some(rx) = &mut self.rx {
            rx.fill_ack(now, out, u32::MAX);
        }
        self.extras.tell(now, out);
        self.last_sends = 0;
        if let Some(live) = &mut self.live {
            live.probe_due = false;
        }
    }
}
