//! The C structures of `include/ackclock_conform.h`, and the calls through them.
//!
//! Source: the header, which says what each pointer stands for and how long it is valid; POSIX.1-2024, `dlopen` and `dlsym`.

#![expect(
    unsafe_code,
    reason = "functions of a library in C are called with pointers, which are valid for the length of the call; that the library \
              keeps to the header cannot be checked"
)]

use crate::tcp::OptionValue;
use libc::{c_char, c_int, c_void};
use std::ffi::{CStr, CString};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// `ACKCLOCK_CONFORM_VERSION`.
pub const VERSION: u32 = 1;
/// `ACKCLOCK_WAIT`.
pub const WAIT: i64 = -1_000_000;
/// `ACKCLOCK_UNKNOWN`.
pub const UNKNOWN: i64 = -1_000_001;
/// `ACKCLOCK_NEVER`.
pub const NEVER: u64 = u64::MAX;
/// `ACKCLOCK_STATES`.
pub const STATES: usize = 11;
/// The most bytes of a text that a library returns.
const LONGEST: usize = 256;

/// `struct ackclock_address`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Address {
    /// Four or sixteen bytes in network order.
    pub ip: [u8; 16],
    /// In the order of this machine.
    pub port: u16,
    /// 4 or 6.
    pub family: u16,
}

/// `struct ackclock_host`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CHost {
    /// Its address.
    pub local: Address,
    /// Bytes.
    pub mtu: u32,
    /// 0 for Linux, 1 for FreeBSD.
    pub system: u32,
}

/// `struct ackclock_value`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// The number.
    pub number: i64,
    /// For `SO_LINGER`.
    pub seconds: i64,
    /// For `TCP_CONGESTION`, or null.
    pub text: *const c_char,
}

type Tcp = *mut c_void;

/// `struct ackclock_tcp`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the header documents each function under the same name")]
pub struct Table {
    pub version: u32,
    pub threads: u32,
    pub open: Option<unsafe extern "C" fn(*const CHost) -> Tcp>,
    pub close: Option<unsafe extern "C" fn(Tcp)>,
    pub on_packet: Option<unsafe extern "C" fn(Tcp, u64, *const u8, usize)>,
    pub poll_transmit: Option<unsafe extern "C" fn(Tcp, u64, *mut u8, usize) -> usize>,
    pub next_timer: Option<unsafe extern "C" fn(*const c_void) -> u64>,
    pub on_timer: Option<unsafe extern "C" fn(Tcp, u64)>,
    pub set: Option<unsafe extern "C" fn(Tcp, *const c_char, *const c_char) -> c_int>,
    pub socket: Option<unsafe extern "C" fn(Tcp, u64, c_int) -> i64>,
    pub bind: Option<unsafe extern "C" fn(Tcp, u64, u32, *const Address) -> i64>,
    pub listen: Option<unsafe extern "C" fn(Tcp, u64, u32, u32) -> i64>,
    pub accept: Option<unsafe extern "C" fn(Tcp, u64, u32) -> i64>,
    pub connect: Option<unsafe extern "C" fn(Tcp, u64, u32, *const Address) -> i64>,
    pub read: Option<unsafe extern "C" fn(Tcp, u64, u32, usize, u32) -> i64>,
    pub write: Option<unsafe extern "C" fn(Tcp, u64, u32, usize, u32) -> i64>,
    pub shutdown: Option<unsafe extern "C" fn(Tcp, u64, u32, c_int) -> i64>,
    pub close_socket: Option<unsafe extern "C" fn(Tcp, u64, u32) -> i64>,
    pub set_option: Option<unsafe extern "C" fn(Tcp, u64, u32, *const c_char, *const Value) -> i64>,
    pub get_option: Option<unsafe extern "C" fn(Tcp, u64, u32, *const c_char, *mut Value) -> i64>,
    pub set_non_blocking: Option<unsafe extern "C" fn(Tcp, u64, u32, c_int) -> i64>,
    pub queue_length: Option<unsafe extern "C" fn(Tcp, u64, u32, *const c_char) -> i64>,
    pub poll: Option<unsafe extern "C" fn(Tcp, u64, u32) -> i64>,
    pub info: Option<unsafe extern "C" fn(*const c_void, u64, u32, *const c_char, *mut i64) -> c_int>,
    pub states: Option<unsafe extern "C" fn(*const c_void, *mut u32) -> c_int>,
    pub drop_time_waits: Option<unsafe extern "C" fn(Tcp) -> c_int>,
}

/// Loads the table of a library, which stays loaded as long as the process lives.
///
/// # Errors
/// What is wrong with the library, without its name.
pub(super) fn load(path: &Path) -> Result<Table, String> {
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| "its name has a zero byte".to_owned())?;
    // SAFETY: the name is a C string. Loading runs the library's own initialisers, which is what the caller asked for.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if library.is_null() {
        // SAFETY: `dlerror` returns null or a C string that is valid until its next call on this thread.
        let why = unsafe { libc::dlerror().as_ref().map(|why| CStr::from_ptr(why).to_string_lossy().into_owned()) };
        return Err(format!("it cannot be loaded ({})", why.unwrap_or_default()));
    }
    // SAFETY: the handle is that of a loaded library, and the name a C string.
    let symbol = unsafe { libc::dlsym(library, c"ackclock_tcp".as_ptr()) };
    if symbol.is_null() {
        return Err("it does not export the function ackclock_tcp".to_owned());
    }
    // SAFETY: the header gives the function with this name this type.
    let table = unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *const Table>(symbol)() };
    if table.is_null() || !table.is_aligned() {
        return Err("ackclock_tcp returned no table".to_owned());
    }
    // SAFETY: the table of each version begins with its version.
    let version = unsafe { table.cast::<u32>().read() };
    if version != VERSION {
        return Err(format!("found version {version} of ackclock_conform.h, allowed: {VERSION}"));
    }
    // SAFETY: the library says that its table has this form. A function is an address or null, whatever its value.
    Ok(unsafe { table.read() })
}

/// One TCP of a library. It is closed when this is dropped.
pub(super) struct Instance<'a> {
    table: &'a Table,
    tcp: Tcp,
}

impl Drop for Instance<'_> {
    fn drop(&mut self) {
        if let Some(close) = self.table.close {
            // SAFETY: `tcp` comes from `open`, and is not used any more.
            unsafe { close(self.tcp) }
        }
    }
}

impl<'a> Instance<'a> {
    /// A fresh one; `None` if `open` is missing or returns null.
    pub(super) fn open(table: &'a Table, host: &CHost) -> Option<Instance<'a>> {
        // SAFETY: `host` outlives the call.
        let tcp = table.open.map(|open| unsafe { open(host) }).filter(|tcp| !tcp.is_null())?;
        Some(Instance { table, tcp })
    }

    pub(super) fn on_packet(&mut self, now: u64, packet: &[u8]) {
        if let Some(on_packet) = self.table.on_packet {
            // SAFETY: `packet` outlives the call.
            unsafe { on_packet(self.tcp, now, packet.as_ptr(), packet.len()) }
        }
    }

    pub(super) fn poll_transmit(&mut self, now: u64, buf: &mut [u8]) -> usize {
        // SAFETY: `buf` has room for its length and outlives the call.
        self.table.poll_transmit.map_or(0, |poll| unsafe { poll(self.tcp, now, buf.as_mut_ptr(), buf.len()) })
    }

    pub(super) fn next_timer(&self) -> u64 {
        // SAFETY: as for every function, `tcp` comes from `open` and is not closed yet.
        self.table.next_timer.map_or(NEVER, |next| unsafe { next(self.tcp) })
    }

    pub(super) fn on_timer(&mut self, now: u64) {
        if let Some(on_timer) = self.table.on_timer {
            // SAFETY: as above.
            unsafe { on_timer(self.tcp, now) }
        }
    }

    pub(super) fn set(&mut self, name: &str, value: &str) -> bool {
        let Some(((set, name), value)) = self.table.set.zip(text(name)).zip(text(value)) else { return false };
        // SAFETY: both are C strings that outlive the call.
        unsafe { set(self.tcp, name.as_ptr(), value.as_ptr()) != 0 }
    }

    pub(super) fn socket(&mut self, now: u64, v6: bool) -> i64 {
        // SAFETY: as above.
        self.table.socket.map_or(UNKNOWN, |socket| unsafe { socket(self.tcp, now, c_int::from(v6)) })
    }

    pub(super) fn bind(&mut self, now: u64, socket: u32, local: SocketAddr) -> i64 {
        let local = Address::of(local);
        // SAFETY: `local` outlives the call.
        self.table.bind.map_or(UNKNOWN, |bind| unsafe { bind(self.tcp, now, socket, &raw const local) })
    }

    pub(super) fn listen(&mut self, now: u64, socket: u32, backlog: u32) -> i64 {
        // SAFETY: as above.
        self.table.listen.map_or(UNKNOWN, |listen| unsafe { listen(self.tcp, now, socket, backlog) })
    }

    pub(super) fn accept(&mut self, now: u64, socket: u32) -> i64 {
        // SAFETY: as above.
        self.table.accept.map_or(UNKNOWN, |accept| unsafe { accept(self.tcp, now, socket) })
    }

    pub(super) fn connect(&mut self, now: u64, socket: u32, remote: SocketAddr) -> i64 {
        let remote = Address::of(remote);
        // SAFETY: `remote` outlives the call.
        self.table.connect.map_or(UNKNOWN, |connect| unsafe { connect(self.tcp, now, socket, &raw const remote) })
    }

    pub(super) fn read(&mut self, now: u64, socket: u32, len: usize, flags: u32) -> i64 {
        // SAFETY: as above.
        self.table.read.map_or(UNKNOWN, |read| unsafe { read(self.tcp, now, socket, len, flags) })
    }

    pub(super) fn write(&mut self, now: u64, socket: u32, len: usize, flags: u32) -> i64 {
        // SAFETY: as above.
        self.table.write.map_or(UNKNOWN, |write| unsafe { write(self.tcp, now, socket, len, flags) })
    }

    pub(super) fn shutdown(&mut self, now: u64, socket: u32, how: i32) -> i64 {
        // SAFETY: as above.
        self.table.shutdown.map_or(UNKNOWN, |shutdown| unsafe { shutdown(self.tcp, now, socket, how) })
    }

    pub(super) fn close_socket(&mut self, now: u64, socket: u32) -> i64 {
        // SAFETY: as above.
        self.table.close_socket.map_or(UNKNOWN, |close| unsafe { close(self.tcp, now, socket) })
    }

    pub(super) fn set_option(&mut self, now: u64, socket: u32, name: &str, value: &OptionValue) -> i64 {
        let congestion = match value {
            OptionValue::Text(value) => text(value),
            OptionValue::Integer(_) | OptionValue::Linger { .. } => None,
        };
        let (number, seconds) = match value {
            OptionValue::Integer(number) => (*number, 0),
            OptionValue::Linger { on, seconds } => (i64::from(*on), *seconds),
            OptionValue::Text(_) => (0, 0),
        };
        let pointer = congestion.as_ref().map_or(std::ptr::null(), |text| text.as_ptr());
        let value = Value { number, seconds, text: pointer };
        let Some((set, name)) = self.table.set_option.zip(text(name)) else { return UNKNOWN };
        // SAFETY: the name and the value with its text outlive the call.
        unsafe { set(self.tcp, now, socket, name.as_ptr(), &raw const value) }
    }

    /// The result, the number, the seconds and the text.
    pub(super) fn get_option(&mut self, now: u64, socket: u32, name: &str) -> (i64, i64, i64, Option<String>) {
        let mut value = Value { number: 0, seconds: 0, text: std::ptr::null() };
        let Some((get, name)) = self.table.get_option.zip(text(name)) else { return (UNKNOWN, 0, 0, None) };
        // SAFETY: the name outlives the call, and the value is ours.
        let result = unsafe { get(self.tcp, now, socket, name.as_ptr(), &raw mut value) };
        // SAFETY: the header says that a text is null or a C string that is valid until the next call.
        let found = (!value.text.is_null()).then(|| unsafe { CStr::from_ptr(value.text) });
        let found =
            found.map(|text| String::from_utf8_lossy(&text.to_bytes()[..text.count_bytes().min(LONGEST)]).into());
        (result, value.number, value.seconds, found)
    }

    pub(super) fn set_non_blocking(&mut self, now: u64, socket: u32, on: bool) -> i64 {
        // SAFETY: as above.
        self.table.set_non_blocking.map_or(UNKNOWN, |set| unsafe { set(self.tcp, now, socket, c_int::from(on)) })
    }

    pub(super) fn queue_length(&mut self, now: u64, socket: u32, name: &str) -> i64 {
        let Some((length, name)) = self.table.queue_length.zip(text(name)) else { return UNKNOWN };
        // SAFETY: the name outlives the call.
        unsafe { length(self.tcp, now, socket, name.as_ptr()) }
    }

    pub(super) fn poll(&mut self, now: u64, socket: u32) -> i64 {
        // SAFETY: as above.
        self.table.poll.map_or(UNKNOWN, |poll| unsafe { poll(self.tcp, now, socket) })
    }

    pub(super) fn info(&self, now: u64, socket: u32, field: &str) -> Option<i64> {
        let (info, field) = self.table.info.zip(text(field))?;
        let mut value = 0;
        // SAFETY: the name outlives the call, and the value is ours.
        let known = unsafe { info(self.tcp, now, socket, field.as_ptr(), &raw mut value) } != 0;
        known.then_some(value)
    }

    pub(super) fn states(&self) -> Option<[u32; STATES]> {
        let mut counts = [0; STATES];
        // SAFETY: there is room for as many counts as the header says.
        let known = self.table.states.is_some_and(|states| unsafe { states(self.tcp, counts.as_mut_ptr()) } != 0);
        known.then_some(counts)
    }

    pub(super) fn drop_time_waits(&mut self) -> bool {
        // SAFETY: as above.
        self.table.drop_time_waits.is_some_and(|drop| unsafe { drop(self.tcp) } != 0)
    }
}

/// A C string; `None` for a text with a zero byte, which no name has.
fn text(text: &str) -> Option<CString> {
    CString::new(text).ok()
}

impl Address {
    pub(super) fn of(address: SocketAddr) -> Address {
        let mut ip = [0; 16];
        let family = match address.ip() {
            IpAddr::V4(v4) => {
                ip[..4].copy_from_slice(&v4.octets());
                4
            }
            IpAddr::V6(v6) => {
                ip = v6.octets();
                6
            }
        };
        Address { ip, port: address.port(), family }
    }
}
