//! The errors of socket calls, by their names in POSIX.

use std::fmt;

macro_rules! errnos {
    ($($name:ident $number:literal $what:literal)*) => {
        /// An error of a socket call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Errno {
            $(#[doc = $what] $name,)*
        }

        impl Errno {
            /// All of them.
            pub const ALL: &'static [Errno] = &[$(Errno::$name),*];

            /// Its name, such as `ECONNRESET`.
            pub fn name(self) -> &'static str {
                match self { $(Errno::$name => stringify!($name),)* }
            }

            /// Its number on Linux (`include/uapi/asm-generic/errno.h`).
            pub fn number(self) -> i64 {
                match self { $(Errno::$name => $number,)* }
            }
        }
    };
}

errnos! {
    EBADF 9 "Not an open socket."
    EAGAIN 11 "It would block."
    EACCES 13 "Permission denied."
    EFAULT 14 "A bad address."
    EINVAL 22 "An invalid argument."
    EPIPE 32 "Nothing can be written any more."
    EDESTADDRREQ 89 "No destination."
    EMSGSIZE 90 "Too long."
    EPROTO 71 "A fault in the protocol."
    ENOPROTOOPT 92 "No such option."
    EOPNOTSUPP 95 "Not supported."
    EADDRINUSE 98 "The address is in use."
    EADDRNOTAVAIL 99 "The address is not this host's."
    ENETUNREACH 101 "The network is unreachable."
    ECONNABORTED 103 "The connection was aborted."
    ECONNRESET 104 "The peer reset the connection."
    ENOBUFS 105 "No room."
    EISCONN 106 "Already connected."
    ENOTCONN 107 "Not connected."
    ETIMEDOUT 110 "The peer did not answer in time."
    ECONNREFUSED 111 "The peer refused the connection."
    EHOSTUNREACH 113 "The host is unreachable."
    EALREADY 114 "A connection attempt is in progress."
    EINPROGRESS 115 "The connection attempt has begun."
}

impl Errno {
    /// The error with this name; `EWOULDBLOCK` is `EAGAIN`.
    pub fn named(name: &str) -> Option<Errno> {
        let name = if name == "EWOULDBLOCK" { "EAGAIN" } else { name };
        Errno::ALL.iter().copied().find(|errno| errno.name() == name)
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
