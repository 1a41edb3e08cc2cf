//! The border to any TCP: packets in, packets out, time, and socket calls.
//!
//! A TCP that implements [`Tcp`] can be driven by every script. Time passes only by [`Tcp::on_timer`], so that a run has the
//! same result on every machine, unless the TCP has a clock of its own ([`Tcp::wait`]).

use crate::errno::Errno;
use ackclock_tcp::time::Time;
use std::net::SocketAddr;

/// A TCP under test, with its sockets.
pub trait Tcp {
    /// A setting of the whole system by its `sysctl` name. Returns `false` for a name or value that it does not know; the
    /// script then counts as not understood.
    fn set(&mut self, name: &str, value: &str) -> bool;

    /// A packet arrives; it begins with its IP header.
    fn on_packet(&mut self, now: Time, packet: &[u8]);

    /// Writes the next packet into the front of `buf` and returns its length; `None` if there is nothing to send now.
    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<usize>;

    /// When [`Tcp::on_timer`] must be called at the latest.
    fn next_timer(&self) -> Option<Time>;

    /// The time advances to `now`.
    fn on_timer(&mut self, now: Time);

    /// A socket call. [`Answer::Wait`] says that it blocks; the same call is then made again after each event.
    fn call(&mut self, now: Time, call: &Call) -> Answer;

    /// A field of `struct tcp_info` by its name, such as `tcpi_snd_cwnd`, or of another structure that scripts may read;
    /// `None` if this TCP does not have it.
    fn info(&self, now: Time, socket: u32, field: &str) -> Option<i64>;

    /// The states of all connections, listeners included, by the names of RFC 9293 §3.3.2 in capitals with `_`
    /// (`SYN_RCVD` and `TIME_WAIT` among them). `None` if this TCP cannot tell.
    fn states(&self) -> Option<Vec<&'static str>>;

    /// Removes all connections in TIME-WAIT, as FreeBSD's `tcpdrop -s TIME_WAIT` does. Returns whether it can.
    fn drop_time_waits(&mut self) -> bool {
        false
    }

    /// Something that no TCP may do, in one sentence, if it has happened since the last question: the script then fails. For a
    /// TCP in another language or another process.
    fn fault(&mut self) -> Option<String> {
        None
    }

    /// For a TCP on a clock of its own: waits until something happens, at most until `until`, and returns the time on that
    /// clock. `None`: the time passes only by [`Tcp::on_timer`].
    fn wait(&mut self, _until: Time) -> Option<Time> {
        None
    }

    /// The latest time that a script may use. Default: 10⁹ s.
    fn latest(&self) -> Time {
        Time(1_000_000_000_000_000_000)
    }
}

/// A socket call. Sockets are numbers that [`Call::Socket`] and [`Call::Accept`] return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// `socket`: a new TCP socket.
    Socket {
        /// Whether it is for IPv6 instead of IPv4.
        v6: bool,
    },
    /// `bind`.
    Bind {
        /// The socket.
        socket: u32,
        /// Its address.
        local: SocketAddr,
    },
    /// `listen`.
    Listen {
        /// The socket.
        socket: u32,
        /// How many connections may wait.
        backlog: u32,
    },
    /// `accept`: returns a new socket.
    Accept {
        /// The listener.
        socket: u32,
    },
    /// `connect`.
    Connect {
        /// The socket.
        socket: u32,
        /// The peer.
        remote: SocketAddr,
    },
    /// `read`, `recv`, `readv`, `recvfrom`, `recvmsg`.
    Read {
        /// The socket.
        socket: u32,
        /// The most bytes to read.
        len: usize,
        /// `MSG_PEEK` and its like.
        flags: ReadFlags,
    },
    /// `write`, `send`, `writev`, `sendto`, `sendmsg`.
    Write {
        /// The socket.
        socket: u32,
        /// How many bytes; their values are zero.
        len: usize,
        /// `MSG_MORE` and its like.
        flags: WriteFlags,
    },
    /// `shutdown`.
    Shutdown {
        /// The socket.
        socket: u32,
        /// `SHUT_RD` or `SHUT_RDWR`.
        read: bool,
        /// `SHUT_WR` or `SHUT_RDWR`.
        write: bool,
    },
    /// `close`.
    Close {
        /// The socket.
        socket: u32,
    },
    /// `setsockopt`.
    SetOption {
        /// The socket.
        socket: u32,
        /// Which.
        option: SocketOption,
        /// Its new value.
        value: OptionValue,
    },
    /// `getsockopt`.
    GetOption {
        /// The socket.
        socket: u32,
        /// Which.
        option: SocketOption,
    },
    /// `fcntl(…, F_SETFL, …)`: whether calls never block.
    SetNonBlocking {
        /// The socket.
        socket: u32,
        /// `O_NONBLOCK`.
        on: bool,
    },
    /// `ioctl` for the length of a queue.
    QueueLength {
        /// The socket.
        socket: u32,
        /// Which queue.
        queue: Queue,
    },
    /// `poll`: the operations that would not block.
    Poll {
        /// The socket.
        socket: u32,
    },
}

/// Flags of a reading call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadFlags {
    /// `MSG_PEEK`: the bytes stay.
    pub peek: bool,
    /// `MSG_DONTWAIT`.
    pub dont_wait: bool,
    /// `MSG_WAITALL`: waits for the full length.
    pub wait_all: bool,
    /// `MSG_TRUNC`: the bytes are dropped.
    pub truncate: bool,
}

/// Flags of a writing call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteFlags {
    /// `MSG_MORE`: more follows.
    pub more: bool,
    /// `MSG_DONTWAIT`.
    pub dont_wait: bool,
    /// `MSG_EOR`: nothing is joined to these bytes.
    pub end_of_record: bool,
}

/// A queue whose length can be queried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// `SIOCINQ`, `FIONREAD`: bytes to read.
    Receive,
    /// `SIOCOUTQ`, `TIOCOUTQ`: bytes not acknowledged.
    Send,
    /// `SIOCOUTQNSD`: bytes not sent.
    NotSent,
}

impl Queue {
    /// The name of its request, such as `SIOCINQ`.
    pub fn name(self) -> &'static str {
        match self {
            Queue::Receive => "SIOCINQ",
            Queue::Send => "SIOCOUTQ",
            Queue::NotSent => "SIOCOUTQNSD",
        }
    }

    /// The queue for which a request with this name asks.
    pub fn named(name: &str) -> Option<Queue> {
        match name {
            "SIOCINQ" | "FIONREAD" => Some(Queue::Receive),
            "SIOCOUTQ" | "TIOCOUTQ" => Some(Queue::Send),
            "SIOCOUTQNSD" => Some(Queue::NotSent),
            _ => None,
        }
    }
}

macro_rules! options {
    ($($(#[$what:meta])* $option:ident: $name:literal $(| $other:literal)*,)*) => {
        /// An option of a socket.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum SocketOption {
            $($(#[$what])* $option,)*
        }

        impl SocketOption {
            /// Its name in C, such as `TCP_NODELAY`; of several names the first.
            pub fn name(self) -> &'static str {
                match self { $(SocketOption::$option => $name,)* }
            }

            /// The option with this name in C.
            pub fn named(name: &str) -> Option<SocketOption> {
                match name { $($name $(| $other)* => Some(SocketOption::$option),)* _ => None }
            }
        }
    };
}

options! {
    /// `SO_REUSEADDR`, `SO_REUSEPORT`.
    Reuse: "SO_REUSEADDR" | "SO_REUSEPORT",
    /// `SO_RCVBUF`.
    ReceiveBuffer: "SO_RCVBUF" | "SO_RCVBUFFORCE",
    /// `SO_SNDBUF`.
    SendBuffer: "SO_SNDBUF" | "SO_SNDBUFFORCE",
    /// `SO_ERROR`: the pending error, which is then cleared.
    Error: "SO_ERROR",
    /// `SO_KEEPALIVE`.
    KeepAlive: "SO_KEEPALIVE",
    /// `SO_LINGER`.
    Linger: "SO_LINGER",
    /// `SO_RCVLOWAT`.
    ReceiveLowWater: "SO_RCVLOWAT",
    /// `TCP_NODELAY`.
    NoDelay: "TCP_NODELAY",
    /// `TCP_CORK` (FreeBSD: `TCP_NOPUSH`).
    Cork: "TCP_CORK" | "TCP_NOPUSH",
    /// `TCP_MAXSEG`.
    MaxSegment: "TCP_MAXSEG",
    /// `TCP_KEEPIDLE`, seconds.
    KeepIdle: "TCP_KEEPIDLE",
    /// `TCP_KEEPINTVL`, seconds.
    KeepInterval: "TCP_KEEPINTVL",
    /// `TCP_KEEPCNT`.
    KeepCount: "TCP_KEEPCNT",
    /// `TCP_USER_TIMEOUT`, milliseconds.
    UserTimeout: "TCP_USER_TIMEOUT",
    /// `TCP_CONGESTION`.
    Congestion: "TCP_CONGESTION",
    /// `TCP_QUICKACK`.
    QuickAck: "TCP_QUICKACK",
    /// `TCP_WINDOW_CLAMP`.
    WindowClamp: "TCP_WINDOW_CLAMP",
    /// `TCP_DEFER_ACCEPT`.
    DeferAccept: "TCP_DEFER_ACCEPT",
    /// `TCP_SYNCNT`.
    SynCount: "TCP_SYNCNT",
    /// `TCP_LINGER2`, seconds.
    FinWait2Time: "TCP_LINGER2",
    /// `TCP_NOTSENT_LOWAT`.
    NotSentLowWater: "TCP_NOTSENT_LOWAT",
    /// `TCP_KEEPINIT` (FreeBSD), seconds.
    KeepInit: "TCP_KEEPINIT",
    /// `IP_MTU_DISCOVER`, `IPV6_MTU_DISCOVER`.
    MtuDiscover: "IP_MTU_DISCOVER" | "IPV6_MTU_DISCOVER",
    /// `IP_TOS`, `IPV6_TCLASS`.
    TrafficClass: "IP_TOS" | "IPV6_TCLASS",
    /// `SO_PRIORITY`, `SO_MARK`, and others without an effect on packets.
    Inert: "SO_PRIORITY" | "SO_MARK" | "IP_BIND_ADDRESS_NO_PORT",
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// A number.
    Integer(i64),
    /// A name, for [`SocketOption::Congestion`].
    Text(String),
    /// For [`SocketOption::Linger`].
    Linger {
        /// Whether `close` waits or resets.
        on: bool,
        /// For how long, in seconds.
        seconds: i64,
    },
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It succeeded with this result: a socket, a number of bytes, or 0.
    Done(i64),
    /// `getsockopt` found this value.
    Value(OptionValue),
    /// It failed.
    Failed(Errno),
    /// It blocks.
    Wait,
    /// This TCP does not have the call or the option; the script counts as not understood.
    Unknown,
}

/// The result of [`Call::Poll`], as bits of [`Answer::Done`].
pub mod ready {
    /// `POLLIN`.
    pub const IN: i64 = 0x1;
    /// `POLLOUT`.
    pub const OUT: i64 = 0x4;
    /// `POLLERR`.
    pub const ERR: i64 = 0x8;
    /// `POLLHUP`.
    pub const HUP: i64 = 0x10;
    /// `POLLRDHUP`.
    pub const RDHUP: i64 = 0x2000;
}
