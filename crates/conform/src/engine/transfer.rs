//! Calls that read, write and query: `read`, `write`, `poll`, and the lengths of the queues.

use super::socket::{is_open, Kind};
use super::Engine;
use crate::errno::Errno;
use crate::tcp::{ready, Answer, Queue, ReadFlags, WriteFlags};
use ackclock_tcp::connection::State;
use ackclock_wire::host::Watch;

/// The number of bytes of a long write that are passed on at once.
const CHUNK: usize = 1 << 16;

impl<W: Watch> Engine<W> {
    pub(super) fn read(&mut self, fd: u32, len: usize, flags: ReadFlags) -> Result<Answer, Errno> {
        let socket = self.socket(fd)?;
        let Some(id) = socket.id() else { return Err(Errno::ENOTCONN) };
        let (waits, read_shut) = (!socket.non_blocking && !flags.dont_wait, socket.read_shut);
        let Some(endpoint) = self.host.endpoint_mut(id) else { return Err(Errno::ENOTCONN) };
        let (first, rest) = endpoint.readable();
        let available = first.len() + rest.len();
        let ends = endpoint.is_at_end() || endpoint.connection().receiver().is_some_and(|r| r.fin_received());
        let state = endpoint.state();
        let enough = available >= len || !flags.wait_all || ends;
        if available > 0 && enough {
            let taken = available.min(len);
            if !flags.peek {
                endpoint.consume(taken);
            }
            return Ok(Answer::Done(taken as i64));
        }
        let socket = self.socket(fd)?;
        if let Some(error) = socket.error.take() {
            return Err(error);
        }
        let over = ends || read_shut || len == 0;
        match state {
            State::Closed if over || socket.was_open => Ok(Answer::Done(0)),
            State::Closed | State::Listen => Err(Errno::ENOTCONN),
            State::SynSent
            | State::SynReceived
            | State::Established
            | State::FinWait1
            | State::FinWait2
            | State::CloseWait
            | State::Closing
            | State::LastAck
            | State::TimeWait => match (over, waits) {
                (true, _) => Ok(Answer::Done(0)),
                (false, true) => Ok(Answer::Wait),
                (false, false) => Err(Errno::EAGAIN),
            },
        }
    }

    pub(super) fn write(&mut self, fd: u32, len: usize, flags: WriteFlags) -> Result<Answer, Errno> {
        let socket = self.socket(fd)?;
        let Some(id) = socket.id() else { return Err(Errno::EPIPE) };
        if let Some(error) = socket.error.take() {
            return Err(error);
        }
        if socket.write_shut {
            return Err(Errno::EPIPE);
        }
        let waits = !socket.non_blocking && !flags.dont_wait;
        let options = socket.options.clone();
        let low_water = self.settings.not_sent_low_water(&options);
        let socket = self.socket(fd)?;
        let already = socket.written;
        let Some(endpoint) = self.host.endpoint_mut(id) else { return Err(Errno::EPIPE) };
        if !is_open(endpoint.state()) {
            return if waits { Ok(Answer::Wait) } else { Err(Errno::EAGAIN) };
        }
        let mut written = already;
        // Data that fits is sent without waiting for the rest (`tcp_sendmsg_locked`, wait_for_space).
        let end = written.saturating_add(endpoint.room()).min(len);
        while written < end && endpoint.info().notsent_bytes < low_water {
            let chunk = (end - written).min(CHUNK);
            let more = written + chunk < end || flags.more && end == len;
            let bytes = &[0; CHUNK][..chunk];
            let taken = if more { endpoint.write_more(bytes) } else { endpoint.write(bytes) };
            written += taken;
            if taken < chunk {
                break;
            }
        }
        let ends = (endpoint.border().local(), endpoint.border().remote());
        self.offload.wrote(ends, written - already, !flags.more && written == len);
        let socket = self.socket(fd)?;
        // A blocking call takes everything, over several rounds.
        if waits && written < len {
            socket.written = written;
            return Ok(Answer::Wait);
        }
        socket.written = 0;
        if written == 0 && len > 0 {
            Err(Errno::EAGAIN)
        } else {
            Ok(Answer::Done(written as i64))
        }
    }

    pub(super) fn queue_length(&mut self, fd: u32, queue: Queue) -> Result<Answer, Errno> {
        let socket = self.socket(fd)?;
        let Some(id) = socket.id() else { return Err(Errno::EINVAL) };
        let Some(endpoint) = self.host.endpoint(id) else { return Ok(Answer::Done(0)) };
        let (first, rest) = endpoint.readable();
        let not_sent = endpoint.info().notsent_bytes;
        let bytes = match queue {
            Queue::Receive => (first.len() + rest.len()) as u64,
            Queue::Send => endpoint.unacknowledged(),
            Queue::NotSent => not_sent,
        };
        Ok(Answer::Done(bytes as i64))
    }

    pub(super) fn poll(&mut self, fd: u32) -> Result<Answer, Errno> {
        let socket = self.socket(fd)?.clone();
        let low_water = self.settings.not_sent_low_water(&socket.options);
        let error = if socket.error.is_some() { ready::ERR } else { 0 };
        let found = match socket.kind {
            Kind::Fresh => ready::OUT | ready::HUP,
            Kind::Listener(local) => {
                if self.host.may_accept(local) {
                    ready::IN
                } else {
                    0
                }
            }
            Kind::Connection(id) => self.host.endpoint(id).map_or(ready::HUP, |endpoint| {
                let (first, rest) = endpoint.readable();
                let end = endpoint.connection().receiver().is_some_and(|r| r.fin_received()) || socket.read_shut;
                let closed = endpoint.state() == State::Closed;
                let readable = first.len() + rest.len() > 0 || end || closed;
                // `__sk_stream_is_writeable(sk, 1)`: `poll` waits for half of what `write` needs.
                let room = endpoint.room() > 0 && endpoint.info().notsent_bytes.saturating_mul(2) < low_water;
                let writable = is_open(endpoint.state()) && (room || socket.write_shut) || closed;
                let gone = closed || end && socket.write_shut;
                [(readable, ready::IN), (writable, ready::OUT), (gone, ready::HUP), (end || closed, ready::RDHUP)]
                    .iter()
                    .map(|(is, bit)| if *is { *bit } else { 0 })
                    .sum()
            }),
        };
        Ok(Answer::Done(found | error))
    }
}
