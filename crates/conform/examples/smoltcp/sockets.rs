//! The socket calls over smoltcp's sockets.

use crate::stack::{endpoint, is_open, Kind, Options, Socket, Stack};
use ackclock_conform::errno::Errno;
use ackclock_conform::tcp::{ready, Answer, Call, OptionValue, Queue, ReadFlags, SocketOption, WriteFlags};
use smoltcp::iface::SocketHandle;
use smoltcp::socket::tcp::{RecvError, State};
use smoltcp::time::Duration;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// The send buffer of a socket that asks for none, bytes.
const SEND_BUFFER: usize = 1 << 20;
/// The most bytes of a buffer that a socket may ask for.
const LARGEST: i64 = 1 << 24;
/// The keep-alive time of a socket that only switches it on (RFC 9293 §3.8.4: at least two hours).
const KEEP_ALIVE: Duration = Duration::from_secs(7200);

type Result = std::result::Result<Answer, Errno>;

impl Stack {
    pub(crate) fn answer(&mut self, call: &Call) -> Result {
        match *call {
            // A host of smoltcp has addresses of both families.
            Call::Socket { v6: _ } => {
                self.sockets.push(Some(Socket::new()));
                Ok(Answer::Done(self.sockets.len() as i64 - 1))
            }
            Call::Bind { socket, local } => {
                let socket = self.socket(socket)?;
                if socket.local.replace(local).is_some() {
                    return Err(Errno::EINVAL);
                }
                Ok(Answer::Done(0))
            }
            Call::Listen { socket, backlog } => self.listen(socket, backlog),
            Call::Accept { socket } => self.accept(socket),
            Call::Connect { socket, remote } => self.connect(socket, remote),
            Call::Read { socket, len, flags } => self.read(socket, len, flags),
            Call::Write { socket, len, flags } => self.write(socket, len, flags),
            Call::Shutdown { socket, read, write } => self.shutdown(socket, read, write),
            Call::Close { socket } => self.close(socket),
            Call::SetOption { socket, option, ref value } => self.set_option(socket, option, value),
            Call::GetOption { socket, option } => self.get_option(socket, option),
            Call::SetNonBlocking { socket, on } => {
                self.socket(socket)?.non_blocking = on;
                Ok(Answer::Done(0))
            }
            Call::QueueLength { socket, queue } => self.queue_length(socket, queue),
            Call::Poll { socket } => self.poll(socket),
        }
    }

    fn connection(&mut self, socket: u32) -> std::result::Result<Option<SocketHandle>, Errno> {
        match self.socket(socket)?.kind {
            Kind::Connection(handle) => Ok(Some(handle)),
            Kind::Fresh | Kind::Listener { .. } => Ok(None),
        }
    }

    fn listen(&mut self, socket: u32, backlog: u32) -> Result {
        let Socket { ref kind, local, options, .. } = *self.socket(socket)?;
        match kind {
            Kind::Connection(_) => return Err(Errno::EINVAL),
            Kind::Listener { .. } => return Ok(Answer::Done(0)),
            Kind::Fresh => {}
        }
        let local = local.ok_or(Errno::EDESTADDRREQ)?;
        let listening = self.add(&options);
        self.tcp(listening).listen(endpoint(local)).map_err(|_| Errno::EADDRNOTAVAIL)?;
        let backlog = (backlog as usize).max(1);
        self.socket(socket)?.kind = Kind::Listener { listening, met: VecDeque::new(), backlog };
        Ok(Answer::Done(0))
    }

    fn accept(&mut self, socket: u32) -> Result {
        let Socket { ref kind, non_blocking, options, .. } = *self.socket(socket)?;
        let Kind::Listener { met, .. } = kind else { return Err(Errno::EINVAL) };
        let waiting: Vec<SocketHandle> = met.iter().copied().collect();
        let Some(handle) = waiting.into_iter().find(|handle| is_open(self.state(*handle))) else {
            return if non_blocking { Err(Errno::EAGAIN) } else { Ok(Answer::Wait) };
        };
        if let Kind::Listener { met, .. } = &mut self.socket(socket)?.kind {
            met.retain(|one| *one != handle);
        }
        let state = self.state(handle);
        let kind = Kind::Connection(handle);
        self.sockets.push(Some(Socket { kind, options, state, was_open: true, ..Socket::new() }));
        Ok(Answer::Done(self.sockets.len() as i64 - 1))
    }

    fn connect(&mut self, socket: u32, remote: SocketAddr) -> Result {
        let Socket { ref kind, local, options, non_blocking, was_open, .. } = *self.socket(socket)?;
        match *kind {
            Kind::Listener { .. } => Err(Errno::EISCONN),
            Kind::Connection(_) if was_open => Err(Errno::EISCONN),
            Kind::Connection(handle) => match self.state(handle) {
                State::Closed => Err(self.socket(socket)?.error.take().unwrap_or(Errno::ECONNABORTED)),
                // The call that blocks is made again when the connection is open.
                _ if non_blocking => Err(Errno::EALREADY),
                _ => Ok(Answer::Wait),
            },
            Kind::Fresh => {
                let handle = self.add(&options);
                let port = self.port();
                let local = local.map_or(port.into(), endpoint);
                let Stack { iface, set, .. } = self;
                let tcp = set.get_mut::<smoltcp::socket::tcp::Socket<'_>>(handle);
                tcp.connect(iface.context(), remote, local).map_err(|_| Errno::EADDRNOTAVAIL)?;
                let socket = self.socket(socket)?;
                (socket.kind, socket.state) = (Kind::Connection(handle), State::SynSent);
                if non_blocking {
                    return Err(Errno::EINPROGRESS);
                }
                Ok(Answer::Wait)
            }
        }
    }

    fn read(&mut self, socket: u32, len: usize, flags: ReadFlags) -> Result {
        let ReadFlags { peek, dont_wait, wait_all, truncate } = flags;
        if wait_all || truncate {
            return Ok(Answer::Unknown);
        }
        let Some(handle) = self.connection(socket)? else { return Err(Errno::ENOTCONN) };
        let mut bytes = vec![0; len.min(self.tcp(handle).recv_queue())];
        let got = match peek {
            true => self.tcp(handle).peek(bytes.len()).map(<[u8]>::len),
            false => self.tcp(handle).recv_slice(&mut bytes),
        };
        let state = self.state(handle);
        let socket = self.socket(socket)?;
        match got {
            Ok(got) if got > 0 => return Ok(Answer::Done(got as i64)),
            Err(RecvError::Finished) => return Ok(Answer::Done(0)),
            Ok(_) | Err(RecvError::InvalidState) => {}
        }
        if let Some(error) = socket.error.take() {
            return Err(error);
        }
        match state {
            _ if len == 0 => Ok(Answer::Done(0)),
            State::Closed if socket.was_open => Ok(Answer::Done(0)),
            State::Closed => Err(Errno::ENOTCONN),
            // The end comes after the peer's FIN.
            State::CloseWait | State::LastAck | State::Closing | State::TimeWait => Ok(Answer::Done(0)),
            _ if socket.non_blocking || dont_wait => Err(Errno::EAGAIN),
            _ => Ok(Answer::Wait),
        }
    }

    fn write(&mut self, socket: u32, len: usize, flags: WriteFlags) -> Result {
        let WriteFlags { more, dont_wait, end_of_record } = flags;
        if more || end_of_record {
            return Ok(Answer::Unknown);
        }
        let Some(handle) = self.connection(socket)? else { return Err(Errno::EPIPE) };
        if let Some(error) = self.socket(socket)?.error.take() {
            return Err(error);
        }
        let waits = !self.socket(socket)?.non_blocking && !dont_wait;
        let already = self.socket(socket)?.written;
        let opening = matches!(self.state(handle), State::SynSent | State::SynReceived);
        let zeros = vec![0; (len - already).min(LARGEST as usize)];
        let written = match self.tcp(handle).send_slice(&zeros) {
            Ok(taken) => already + taken,
            Err(_) if opening => already,
            Err(_) => return Err(Errno::EPIPE),
        };
        let done = written == len || (!waits && written > 0);
        self.socket(socket)?.written = if done { 0 } else { written };
        match (done, waits) {
            (true, _) => Ok(Answer::Done(written as i64)),
            (false, true) => Ok(Answer::Wait),
            (false, false) => Err(Errno::EAGAIN),
        }
    }

    fn shutdown(&mut self, socket: u32, read: bool, write: bool) -> Result {
        let Some(handle) = self.connection(socket)? else { return Err(Errno::ENOTCONN) };
        if read {
            return Ok(Answer::Unknown);
        }
        if !is_open(self.state(handle)) {
            return Err(Errno::ENOTCONN);
        }
        if write {
            self.tcp(handle).close();
        }
        Ok(Answer::Done(0))
    }

    fn close(&mut self, socket: u32) -> Result {
        let place = self.sockets.get_mut(socket as usize).ok_or(Errno::EBADF)?;
        match place.take().ok_or(Errno::EBADF)?.kind {
            Kind::Fresh => {}
            Kind::Connection(handle) => {
                self.tcp(handle).close();
                self.closed.push(handle);
            }
            Kind::Listener { listening, met, .. } => {
                for handle in met.into_iter().chain([listening]) {
                    self.tcp(handle).abort();
                    self.closed.push(handle);
                }
            }
        }
        Ok(Answer::Done(0))
    }

    fn set_option(&mut self, socket: u32, option: SocketOption, value: &OptionValue) -> Result {
        let handle = self.connection(socket)?;
        let one = self.socket(socket)?;
        let (number, text) = match value {
            OptionValue::Integer(number) => (Some(*number), ""),
            OptionValue::Text(text) => (None, text.as_str()),
            OptionValue::Linger { .. } => return Ok(Answer::Unknown),
        };
        match (option, number) {
            (SocketOption::Reuse | SocketOption::Inert, _) => {}
            (SocketOption::NoDelay, Some(on)) => {
                one.options.no_delay = on != 0;
                handle.into_iter().for_each(|handle| self.tcp(handle).set_nagle_enabled(on == 0));
            }
            (SocketOption::UserTimeout, Some(millis @ 0..)) => {
                let timeout = (millis > 0).then(|| Duration::from_millis(millis as u64));
                one.options.timeout = timeout;
                handle.into_iter().for_each(|handle| self.tcp(handle).set_timeout(timeout));
            }
            // smoltcp has no other time than this, and no options of a listener that its connections inherit.
            (SocketOption::KeepAlive, Some(on)) => {
                let Some(handle) = handle else { return Ok(Answer::Unknown) };
                self.tcp(handle).set_keep_alive((on != 0).then_some(KEEP_ALIVE));
            }
            // The buffers exist from the beginning.
            (SocketOption::ReceiveBuffer, Some(bytes @ 1..=LARGEST)) if handle.is_none() => {
                one.options.receive_buffer = Some(bytes as usize);
            }
            (SocketOption::SendBuffer, Some(bytes @ 1..=LARGEST)) if handle.is_none() => {
                one.options.send_buffer = bytes as usize;
            }
            (SocketOption::Congestion, None) if text == "cubic" => {}
            _ => return Ok(Answer::Unknown),
        }
        Ok(Answer::Done(0))
    }

    fn get_option(&mut self, socket: u32, option: SocketOption) -> Result {
        let handle = self.connection(socket)?;
        let default = self.buffer;
        let one = self.socket(socket)?;
        let number = match option {
            SocketOption::Error => one.error.take().map_or(0, Errno::number),
            SocketOption::NoDelay => i64::from(one.options.no_delay),
            SocketOption::ReceiveBuffer => match handle {
                Some(handle) => self.tcp(handle).recv_capacity() as i64,
                None => one.options.receive_buffer.unwrap_or(default) as i64,
            },
            SocketOption::SendBuffer => one.options.send_buffer as i64,
            _ => return Ok(Answer::Unknown),
        };
        Ok(Answer::Value(OptionValue::Integer(number)))
    }

    fn queue_length(&mut self, socket: u32, queue: Queue) -> Result {
        let Some(handle) = self.connection(socket)? else { return Err(Errno::EINVAL) };
        match queue {
            Queue::Receive => Ok(Answer::Done(self.tcp(handle).recv_queue() as i64)),
            Queue::Send => Ok(Answer::Done(self.tcp(handle).send_queue() as i64)),
            Queue::NotSent => Ok(Answer::Unknown),
        }
    }

    fn poll(&mut self, socket: u32) -> Result {
        let Some(handle) = self.connection(socket)? else { return Ok(Answer::Unknown) };
        let mut found = 0;
        let failed = self.socket(socket)?.error.is_some();
        let tcp = self.tcp(handle);
        let state = tcp.state();
        let ended =
            matches!(state, State::CloseWait | State::LastAck | State::Closing | State::TimeWait | State::Closed);
        let bits = [
            (tcp.can_recv() || ended, ready::IN),
            (tcp.can_send() || state == State::Closed, ready::OUT),
            (failed, ready::ERR),
            (state == State::Closed, ready::HUP),
            (ended, ready::RDHUP),
        ];
        bits.iter().filter(|(is, _)| *is).for_each(|(_, bit)| found |= bit);
        Ok(Answer::Done(found))
    }
}

impl Socket {
    fn new() -> Socket {
        Socket {
            kind: Kind::Fresh,
            local: None,
            non_blocking: false,
            options: Options { receive_buffer: None, send_buffer: SEND_BUFFER, no_delay: false, timeout: None },
            error: None,
            state: State::Closed,
            was_open: false,
            written: 0,
        }
    }
}
