//! Linux's numbers for socket options (`include/uapi/asm-generic/socket.h`, `linux/tcp.h`, `linux/in.h`, `linux/in6.h`).
//! packetdrill passes these, whatever system a script was written for.

use ackclock_conform::tcp::{Queue, ReadFlags, SocketOption, WriteFlags};
use libc::c_int;

/// `TCP_CC_INFO`.
pub(crate) const TCP_CC_INFO: c_int = 26;
/// `SO_MEMINFO`.
pub(crate) const SO_MEMINFO: c_int = 55;
/// Flags of calls that change nothing here.
const NO_EFFECT: c_int = libc::MSG_NOSIGNAL;

/// An option by its level and number; `None` if it is not understood.
pub(crate) fn option(level: c_int, name: c_int) -> Option<SocketOption> {
    match level {
        libc::SOL_SOCKET => of_socket(name),
        libc::IPPROTO_TCP => of_tcp(name),
        libc::IPPROTO_IP => of_ip(name),
        libc::IPPROTO_IPV6 => of_ipv6(name),
        _ => None,
    }
}

fn of_socket(name: c_int) -> Option<SocketOption> {
    Some(match name {
        libc::SO_REUSEADDR | libc::SO_REUSEPORT => SocketOption::Reuse,
        libc::SO_RCVBUF | libc::SO_RCVBUFFORCE => SocketOption::ReceiveBuffer,
        libc::SO_SNDBUF | libc::SO_SNDBUFFORCE => SocketOption::SendBuffer,
        libc::SO_ERROR => SocketOption::Error,
        libc::SO_KEEPALIVE => SocketOption::KeepAlive,
        libc::SO_LINGER => SocketOption::Linger,
        libc::SO_RCVLOWAT => SocketOption::ReceiveLowWater,
        libc::SO_PRIORITY | libc::SO_MARK => SocketOption::Inert,
        _ => return None,
    })
}

fn of_tcp(name: c_int) -> Option<SocketOption> {
    Some(match name {
        libc::TCP_NODELAY => SocketOption::NoDelay,
        libc::TCP_CORK => SocketOption::Cork,
        libc::TCP_MAXSEG => SocketOption::MaxSegment,
        libc::TCP_KEEPIDLE => SocketOption::KeepIdle,
        libc::TCP_KEEPINTVL => SocketOption::KeepInterval,
        libc::TCP_KEEPCNT => SocketOption::KeepCount,
        libc::TCP_USER_TIMEOUT => SocketOption::UserTimeout,
        libc::TCP_CONGESTION => SocketOption::Congestion,
        libc::TCP_QUICKACK => SocketOption::QuickAck,
        libc::TCP_WINDOW_CLAMP => SocketOption::WindowClamp,
        libc::TCP_DEFER_ACCEPT => SocketOption::DeferAccept,
        libc::TCP_SYNCNT => SocketOption::SynCount,
        libc::TCP_LINGER2 => SocketOption::FinWait2Time,
        libc::TCP_NOTSENT_LOWAT => SocketOption::NotSentLowWater,
        _ => return None,
    })
}

fn of_ip(name: c_int) -> Option<SocketOption> {
    Some(match name {
        libc::IP_MTU_DISCOVER => SocketOption::MtuDiscover,
        libc::IP_TOS => SocketOption::TrafficClass,
        libc::IP_BIND_ADDRESS_NO_PORT => SocketOption::Inert,
        _ => return None,
    })
}

fn of_ipv6(name: c_int) -> Option<SocketOption> {
    Some(match name {
        libc::IPV6_MTU_DISCOVER => SocketOption::MtuDiscover,
        libc::IPV6_TCLASS => SocketOption::TrafficClass,
        _ => return None,
    })
}

/// The flags of a reading call; `None` if one is not understood.
pub(crate) fn read_flags(flags: c_int) -> Option<ReadFlags> {
    let known = libc::MSG_PEEK | libc::MSG_DONTWAIT | libc::MSG_WAITALL | libc::MSG_TRUNC | NO_EFFECT;
    (flags & !known == 0).then_some(ReadFlags {
        peek: flags & libc::MSG_PEEK != 0,
        dont_wait: flags & libc::MSG_DONTWAIT != 0,
        wait_all: flags & libc::MSG_WAITALL != 0,
        truncate: flags & libc::MSG_TRUNC != 0,
    })
}

/// The flags of a writing call; `None` if one is not understood.
pub(crate) fn write_flags(flags: c_int) -> Option<WriteFlags> {
    let known = libc::MSG_MORE | libc::MSG_DONTWAIT | libc::MSG_EOR | NO_EFFECT;
    (flags & !known == 0).then_some(WriteFlags {
        more: flags & libc::MSG_MORE != 0,
        dont_wait: flags & libc::MSG_DONTWAIT != 0,
        end_of_record: flags & libc::MSG_EOR != 0,
    })
}

/// The queue that an `ioctl` asks for.
pub(crate) fn queue(request: u64) -> Option<Queue> {
    /// `SIOCOUTQNSD` (`include/uapi/linux/sockios.h`).
    const SIOCOUTQNSD: u64 = 0x894b;
    match request {
        libc::FIONREAD => Some(Queue::Receive),
        libc::TIOCOUTQ => Some(Queue::Send),
        SIOCOUTQNSD => Some(Queue::NotSent),
        _ => None,
    }
}
