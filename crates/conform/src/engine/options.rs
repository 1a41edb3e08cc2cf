//! `setsockopt` and `getsockopt`.

use super::settings::LARGEST_BUFFER;
use super::socket::{Kind, Options};
use super::{Engine, System};
use crate::errno::Errno;
use crate::tcp::{Answer, OptionValue, SocketOption};
use ackclock_tcp::connection::KeepAlive;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::host::Watch;

/// The longest timeout of a SYN-ACK, seconds (`TCP_RTO_MAX`).
const RTO_MAX: u64 = 120;
/// The most timeouts that `TCP_DEFER_ACCEPT` stands for.
const MOST_TIMEOUTS: u32 = 255;
/// `TCP_WINDOW_CLAMP` is no less than half of `SOCK_MIN_RCVBUF`.
const LEAST_CLAMP: u64 = 1152;

/// Linux's `secs_to_retrans`: the timeouts of a SYN-ACK that cover this time.
fn timeouts_in(seconds: u64) -> u32 {
    (0..=MOST_TIMEOUTS).find(|n| seconds_of(*n) >= seconds).unwrap_or(MOST_TIMEOUTS)
}

/// Linux's `retrans_to_secs`: 1 + 2 + 4 + … seconds.
fn seconds_of(timeouts: u32) -> u64 {
    (0..timeouts).map(|n| (1_u64 << n.min(7)).min(RTO_MAX)).sum()
}

impl Options {
    /// Sets an option whose value is not a number.
    fn set_structure(&mut self, fresh: bool, option: SocketOption, value: &OptionValue) -> Result<Answer, Errno> {
        match *value {
            OptionValue::Text(ref name) if option == SocketOption::Congestion => {
                self.congestion = Some(name.clone());
                // The engine's connections keep the congestion control that they began with.
                Ok(if fresh { Answer::Done(0) } else { Answer::Unknown })
            }
            OptionValue::Linger { on, seconds } if option == SocketOption::Linger => {
                self.linger = on.then_some((on, seconds));
                Ok(Answer::Done(0))
            }
            OptionValue::Integer(_) | OptionValue::Text(_) | OptionValue::Linger { .. } => Err(Errno::EINVAL),
        }
    }

    /// An option without an effect here, which can be read back.
    fn keep(&mut self, option: SocketOption, number: i64) {
        self.others.retain(|(other, _)| *other != option);
        self.others.push((option, number));
    }
}

impl<W: Watch> Engine<W> {
    pub(super) fn set_option(
        &mut self,
        now: Time,
        fd: u32,
        option: SocketOption,
        value: &OptionValue,
    ) -> Result<Answer, Errno> {
        let system = self.settings.system;
        let socket = self.socket(fd)?;
        let fresh = socket.kind == Kind::Fresh;
        let o = &mut socket.options;
        let number = match *value {
            OptionValue::Integer(number) => number,
            OptionValue::Text(_) | OptionValue::Linger { .. } => return o.set_structure(fresh, option, value),
        };
        let on = number != 0;
        let size = u64::try_from(number).map_err(|_| Errno::EINVAL)?.min(LARGEST_BUFFER);
        match option {
            // Linux doubles the size and counts half of it as overhead, which leaves the requested size.
            SocketOption::ReceiveBuffer if fresh || system == System::FreeBsd => o.receive_buffer = Some(size),
            SocketOption::SendBuffer if fresh || system == System::FreeBsd => o.send_buffer = Some(size),
            // Linux, `tcp_set_mss` in `net/ipv4/tcp.c`: `TCP_MIN_MSS` to `MAX_TCP_WINDOW`.
            SocketOption::MaxSegment if !(88..=32_767).contains(&number) => return Err(Errno::EINVAL),
            SocketOption::MaxSegment if fresh => o.max_segment = Some(number as u32),
            SocketOption::NoDelay => o.no_delay = on,
            SocketOption::Cork => o.cork = on,
            SocketOption::KeepAlive => o.keep_alive = on,
            SocketOption::KeepIdle | SocketOption::KeepInterval | SocketOption::KeepCount if number < 1 => {
                return Err(Errno::EINVAL)
            }
            SocketOption::KeepIdle => o.keep_idle = Some(number),
            SocketOption::KeepInterval => o.keep_interval = Some(number),
            SocketOption::KeepCount => o.keep_count = Some(number),
            SocketOption::UserTimeout => o.user_timeout = Some(number),
            SocketOption::ReceiveLowWater => o.low_water = Some(number),
            SocketOption::NotSentLowWater => o.not_sent_low_water = Some(size).filter(|size| *size > 0),
            SocketOption::QuickAck => o.quick_ack = Some(on),
            SocketOption::WindowClamp if number == 0 && !fresh => return Err(Errno::EINVAL),
            SocketOption::WindowClamp => o.window_clamp = Some(size.max(LEAST_CLAMP)).filter(|_| number > 0),
            SocketOption::DeferAccept => o.defer_accept = timeouts_in(size),
            SocketOption::Reuse
            | SocketOption::Inert
            | SocketOption::SynCount
            | SocketOption::FinWait2Time
            | SocketOption::MtuDiscover => o.keep(option, number),
            SocketOption::Error => return Err(Errno::ENOPROTOOPT),
            SocketOption::ReceiveBuffer
            | SocketOption::SendBuffer
            | SocketOption::MaxSegment
            | SocketOption::KeepInit
            | SocketOption::TrafficClass
            | SocketOption::Linger
            | SocketOption::Congestion => return Ok(Answer::Unknown),
        }
        self.apply(now, fd, option);
        Ok(Answer::Done(0))
    }

    /// Passes all options to a new connection.
    pub(super) fn apply_all(&mut self, now: Time, fd: u32) {
        let set = self.socket(fd).map(|s| s.options.clone()).unwrap_or_default();
        self.apply(now, fd, SocketOption::NoDelay);
        self.apply(now, fd, SocketOption::Cork);
        if set.keep_alive {
            self.apply(now, fd, SocketOption::KeepAlive);
        }
        if set.user_timeout.is_some() {
            self.apply(now, fd, SocketOption::UserTimeout);
        }
        if set.quick_ack.is_some() {
            self.apply(now, fd, SocketOption::QuickAck);
        }
    }

    /// Passes one option to the connection, if there is one.
    fn apply(&mut self, now: Time, fd: u32, option: SocketOption) {
        let default = self.settings.keep_alive();
        let Ok(socket) = self.socket(fd) else { return };
        let (set, id) = (socket.options.clone(), socket.id());
        if let (SocketOption::DeferAccept, Kind::Listener(local)) = (option, socket.kind) {
            self.host.defer_accept(local, set.defer_accept);
        }
        let Some(endpoint) = id.and_then(|id| self.host.endpoint_mut(id)) else { return };
        match option {
            SocketOption::NoDelay => endpoint.set_nodelay(set.no_delay),
            SocketOption::Cork => endpoint.set_cork(set.cork),
            SocketOption::KeepAlive | SocketOption::KeepIdle | SocketOption::KeepInterval | SocketOption::KeepCount => {
                let seconds = |set: Option<i64>, default| set.map_or(default, |s| Nanos::from_secs(s.unsigned_abs()));
                let keep_alive = KeepAlive {
                    idle: seconds(set.keep_idle, default.idle),
                    interval: seconds(set.keep_interval, default.interval),
                    probes: set.keep_count.map_or(default.probes, |n| n as u32),
                };
                endpoint.set_keep_alive(now, set.keep_alive.then_some(keep_alive));
            }
            SocketOption::UserTimeout => {
                let limit = set.user_timeout.filter(|ms| *ms > 0);
                endpoint.set_user_timeout(limit.map(|ms| Nanos::from_millis(ms.unsigned_abs())));
            }
            SocketOption::QuickAck => endpoint.set_quick_ack(set.quick_ack == Some(true)),
            SocketOption::WindowClamp => {
                if let Some(most) = set.window_clamp {
                    endpoint.clamp_window(most);
                }
            }
            SocketOption::Reuse
            | SocketOption::ReceiveBuffer
            | SocketOption::SendBuffer
            | SocketOption::Error
            | SocketOption::Linger
            | SocketOption::ReceiveLowWater
            | SocketOption::MaxSegment
            | SocketOption::Congestion
            | SocketOption::DeferAccept
            | SocketOption::SynCount
            | SocketOption::FinWait2Time
            | SocketOption::NotSentLowWater
            | SocketOption::KeepInit
            | SocketOption::MtuDiscover
            | SocketOption::TrafficClass
            | SocketOption::Inert => {}
        }
    }

    pub(super) fn get_option(&mut self, fd: u32, option: SocketOption) -> Result<Answer, Errno> {
        let (recvspace, system) = (self.settings.recvspace(), self.settings.system);
        let keep_alive = self.settings.keep_alive();
        let socket = self.socket(fd)?.clone();
        let (plan, id) = (self.settings.plan(&socket.options, socket.v6), socket.id());
        let mss = id.and_then(|id| self.host.endpoint(id)).map(|e| i64::from(e.info().snd_mss)).filter(|mss| *mss > 0);
        let socket = self.socket(fd)?;
        let o = &socket.options;
        let number = match option {
            SocketOption::Error => socket.error.take().map_or(0, Errno::number),
            SocketOption::ReceiveBuffer => match system {
                System::Linux => 2 * plan.buffers.receive as i64,
                System::FreeBsd if socket.met => plan.buffers.receive as i64,
                System::FreeBsd => o.receive_buffer.unwrap_or(recvspace) as i64,
            },
            SocketOption::SendBuffer => match system {
                System::Linux => 2 * plan.buffers.send as i64,
                System::FreeBsd => plan.buffers.send as i64,
            },
            SocketOption::NoDelay => i64::from(o.no_delay),
            SocketOption::Cork => i64::from(o.cork),
            SocketOption::KeepAlive => i64::from(o.keep_alive),
            SocketOption::KeepIdle => o.keep_idle.unwrap_or((keep_alive.idle.0 / 1_000_000_000) as i64),
            SocketOption::KeepInterval => o.keep_interval.unwrap_or((keep_alive.interval.0 / 1_000_000_000) as i64),
            SocketOption::KeepCount => o.keep_count.unwrap_or(keep_alive.probes.into()),
            SocketOption::NotSentLowWater => o.not_sent_low_water.unwrap_or(0) as i64,
            SocketOption::WindowClamp => o.window_clamp.unwrap_or(0) as i64,
            SocketOption::DeferAccept => seconds_of(o.defer_accept) as i64,
            SocketOption::QuickAck => i64::from(o.quick_ack.unwrap_or(true)),
            SocketOption::UserTimeout => o.user_timeout.unwrap_or(0),
            SocketOption::ReceiveLowWater => o.low_water.unwrap_or(1),
            SocketOption::MaxSegment => mss.or(o.max_segment.map(i64::from)).unwrap_or(536),
            SocketOption::Linger => {
                let (on, seconds) = o.linger.unwrap_or((false, 0));
                return Ok(Answer::Value(OptionValue::Linger { on, seconds }));
            }
            SocketOption::Congestion => match &o.congestion {
                Some(name) => return Ok(Answer::Value(OptionValue::Text(name.clone()))),
                None => return Ok(Answer::Unknown),
            },
            SocketOption::Reuse
            | SocketOption::Inert
            | SocketOption::SynCount
            | SocketOption::FinWait2Time
            | SocketOption::MtuDiscover => match o.others.iter().find(|(other, _)| *other == option) {
                Some((_, number)) => *number,
                None => return Ok(Answer::Unknown),
            },
            SocketOption::KeepInit | SocketOption::TrafficClass => return Ok(Answer::Unknown),
        };
        Ok(Answer::Value(OptionValue::Integer(number)))
    }
}
