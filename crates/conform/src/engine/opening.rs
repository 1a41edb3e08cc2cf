//! Calls that open and close: `bind`, `listen`, `accept`, `connect`, `shutdown`, `close`.

use super::socket::{is_open, Kind, Socket};
use super::Engine;
use crate::errno::Errno;
use crate::tcp::Answer;
use ackclock_tcp::connection::State;
use ackclock_tcp::time::Time;
use ackclock_wire::host::{ConnectError, ListenError, Watch};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

impl<W: Watch> Engine<W> {
    pub(super) fn bind(&mut self, socket: u32, local: SocketAddr) -> Result<Answer, Errno> {
        let socket = self.socket(socket)?;
        if socket.kind != Kind::Fresh || socket.local.is_some() {
            return Err(Errno::EINVAL);
        }
        socket.local = Some(local);
        Ok(Answer::Done(0))
    }

    pub(super) fn listen(&mut self, fd: u32, backlog: u32) -> Result<Answer, Errno> {
        let socket = self.socket(fd)?.clone();
        match socket.kind {
            Kind::Connection(_) => return Err(Errno::EINVAL),
            Kind::Listener(_) => return Ok(Answer::Done(0)),
            Kind::Fresh => {}
        }
        let local = socket.local.ok_or(Errno::EDESTADDRREQ)?;
        let plan = self.settings.plan(&socket.options, socket.v6);
        // POSIX: a backlog of 0 may still let one connection wait, and on Linux and BSD it does.
        let backlog = (backlog as usize).max(1);
        self.host.listen(local, &plan.stack, plan.buffers, backlog).map_err(|why| match why {
            ListenError::NotOurs(_) => Errno::EADDRNOTAVAIL,
            ListenError::InUse(_) => Errno::EADDRINUSE,
        })?;
        if let Some(mss) = plan.max_segment {
            self.host.limit_mss(local, mss);
        }
        self.host.defer_accept(local, socket.options.defer_accept);
        self.socket(fd)?.kind = Kind::Listener(local);
        Ok(Answer::Done(0))
    }

    pub(super) fn accept(&mut self, now: Time, fd: u32) -> Result<Answer, Errno> {
        let listener = self.socket(fd)?.clone();
        let Kind::Listener(local) = listener.kind else { return Err(Errno::EINVAL) };
        let Some(id) = self.host.accept(local) else {
            return if listener.non_blocking { Err(Errno::EAGAIN) } else { Ok(Answer::Wait) };
        };
        let socket = Socket {
            kind: Kind::Connection(id),
            local: Some(local),
            options: listener.options,
            met: true,
            was_open: true,
            ..Socket::new(listener.v6)
        };
        let fd = self.insert(socket);
        self.apply_all(now, fd as u32);
        self.notice();
        Ok(Answer::Done(fd))
    }

    pub(super) fn connect(&mut self, now: Time, fd: u32, remote: SocketAddr) -> Result<Answer, Errno> {
        let socket = self.socket(fd)?.clone();
        match socket.kind {
            Kind::Listener(_) => return Err(Errno::EISCONN),
            Kind::Connection(_) => return self.connecting(fd),
            Kind::Fresh => {}
        }
        let local = socket.local.unwrap_or_else(|| {
            let any = if socket.v6 { IpAddr::V6(Ipv6Addr::UNSPECIFIED) } else { IpAddr::V4(Ipv4Addr::UNSPECIFIED) };
            SocketAddr::new(any, 0)
        });
        let local = SocketAddr::new(self.settings.address_for(local.ip(), remote.ip()), local.port());
        let plan = self.settings.active_plan(&socket.options, socket.v6);
        let id = self.host.connect(now, local, remote, &plan.stack, plan.buffers).map_err(|why| match why {
            ConnectError::NotOurs(_) | ConnectError::NoFreePort => Errno::EADDRNOTAVAIL,
            ConnectError::InUse => Errno::EADDRINUSE,
            ConnectError::TooMany => Errno::ENOBUFS,
            ConnectError::Border(_) => Errno::EINVAL,
        })?;
        let socket = self.socket(fd)?;
        (socket.kind, socket.local) = (Kind::Connection(id), Some(local));
        let non_blocking = socket.non_blocking;
        if let Some((endpoint, mss)) = self.host.endpoint_mut(id).zip(plan.max_segment) {
            endpoint.limit_mss(mss);
        }
        self.apply_all(now, fd);
        if non_blocking {
            Err(Errno::EINPROGRESS)
        } else {
            Ok(Answer::Wait)
        }
    }

    /// `connect` again, on a socket that has a connection.
    fn connecting(&mut self, fd: u32) -> Result<Answer, Errno> {
        let state = self.state(fd);
        let socket = self.socket(fd)?;
        if let Some(error) = socket.error.take() {
            return Err(error);
        }
        match state {
            Some(State::SynSent | State::SynReceived) if socket.non_blocking => Err(Errno::EALREADY),
            Some(State::SynSent | State::SynReceived) => Ok(Answer::Wait),
            Some(_) | None if socket.non_blocking => Err(Errno::EISCONN),
            Some(state) if is_open(state) => Ok(Answer::Done(0)),
            Some(_) | None => Err(Errno::ECONNABORTED),
        }
    }

    /// The state of a socket's connection.
    pub(super) fn state(&self, fd: u32) -> Option<State> {
        let id = self.sockets.get(fd as usize)?.as_ref()?.id()?;
        self.host.endpoint(id).map(|endpoint| endpoint.state())
    }

    pub(super) fn shutdown(&mut self, fd: u32, read: bool, write: bool) -> Result<Answer, Errno> {
        let socket = self.socket(fd)?;
        let Some(id) = socket.id() else { return Err(Errno::ENOTCONN) };
        if socket.ended {
            return Err(Errno::ENOTCONN);
        }
        socket.read_shut |= read;
        if write && !socket.write_shut {
            socket.write_shut = true;
            if let Some(endpoint) = self.host.endpoint_mut(id) {
                endpoint.close();
            }
        }
        self.notice();
        Ok(Answer::Done(0))
    }

    pub(super) fn close(&mut self, now: Time, fd: u32) -> Result<Answer, Errno> {
        let socket = self.sockets.get_mut(fd as usize).and_then(Option::take).ok_or(Errno::EBADF)?;
        match socket.kind {
            Kind::Fresh => {}
            Kind::Listener(local) => self.host.unlisten(local),
            // RFC 9293 §3.10.5, by way of POSIX's `SO_LINGER` with a time of 0.
            Kind::Connection(id) if socket.options.linger == Some((true, 0)) => self.host.abort(id),
            Kind::Connection(id) => self.host.remove(now, id),
        }
        Ok(Answer::Done(0))
    }
}
