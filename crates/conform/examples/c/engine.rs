//! This project's engine behind the C interface, as a shared library: `cargo build --example engine_c`. Its verdicts must be
//! those of the engine behind the Rust trait.

#![expect(
    unsafe_code,
    unsafe_op_in_unsafe_fn,
    reason = "functions for C get pointers, which the runner keeps valid for the length of the call, as the header says"
)]

use ackclock_conform::engine::{Engine, Settings, System};
use ackclock_conform::library::abi::{Address, CHost, Table, Value, NEVER, STATES, UNKNOWN, VERSION, WAIT};
use ackclock_conform::tcp::{Answer, Call, OptionValue, Queue, ReadFlags, SocketOption, Tcp, WriteFlags};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// An engine, with the text that `get_option` returned last.
struct Held {
    engine: Engine,
    text: CString,
}

unsafe fn held<'a>(tcp: *mut c_void) -> &'a mut Held {
    &mut *tcp.cast::<Held>()
}

unsafe fn name<'a>(at: *const c_char) -> &'a str {
    CStr::from_ptr(at).to_str().unwrap_or_default()
}

unsafe fn address(at: *const Address) -> SocketAddr {
    let Address { ip, port, family } = *at;
    let ip = match family {
        4 => IpAddr::V4(Ipv4Addr::new(ip[0], ip[1], ip[2], ip[3])),
        _ => IpAddr::V6(Ipv6Addr::from(ip)),
    };
    SocketAddr::new(ip, port)
}

/// A call, and its result in C's form.
unsafe fn call(tcp: *mut c_void, now: u64, call: &Call) -> i64 {
    match held(tcp).engine.call(Time(now), call) {
        Answer::Done(result) => result,
        Answer::Value(_) => 0,
        Answer::Failed(errno) => -errno.number(),
        Answer::Wait => WAIT,
        Answer::Unknown => UNKNOWN,
    }
}

unsafe extern "C" fn open(host: *const CHost) -> *mut c_void {
    let CHost { local, mtu, system } = *host;
    let system = if system == 0 { System::Linux } else { System::FreeBsd };
    let addresses = [address(&raw const local).ip()];
    let engine = Engine::new(&addresses, mtu, Settings::new(system, &addresses, None, Stack::named));
    Box::into_raw(Box::new(Held { engine, text: CString::default() })).cast()
}

unsafe extern "C" fn close(tcp: *mut c_void) {
    drop(Box::from_raw(tcp.cast::<Held>()));
}

unsafe extern "C" fn on_packet(tcp: *mut c_void, now: u64, packet: *const u8, len: usize) {
    held(tcp).engine.on_packet(Time(now), std::slice::from_raw_parts(packet, len));
}

unsafe extern "C" fn poll_transmit(tcp: *mut c_void, now: u64, buf: *mut u8, room: usize) -> usize {
    held(tcp).engine.poll_transmit(Time(now), std::slice::from_raw_parts_mut(buf, room)).unwrap_or(0)
}

unsafe extern "C" fn next_timer(tcp: *const c_void) -> u64 {
    (*tcp.cast::<Held>()).engine.next_timer().map_or(NEVER, |at| at.0)
}

unsafe extern "C" fn on_timer(tcp: *mut c_void, now: u64) {
    held(tcp).engine.on_timer(Time(now));
}

unsafe extern "C" fn set(tcp: *mut c_void, setting: *const c_char, value: *const c_char) -> c_int {
    c_int::from(held(tcp).engine.set(name(setting), name(value)))
}

unsafe extern "C" fn socket(tcp: *mut c_void, now: u64, v6: c_int) -> i64 {
    call(tcp, now, &Call::Socket { v6: v6 != 0 })
}

unsafe extern "C" fn bind(tcp: *mut c_void, now: u64, socket: u32, local: *const Address) -> i64 {
    call(tcp, now, &Call::Bind { socket, local: address(local) })
}

unsafe extern "C" fn listen(tcp: *mut c_void, now: u64, socket: u32, backlog: u32) -> i64 {
    call(tcp, now, &Call::Listen { socket, backlog })
}

unsafe extern "C" fn accept(tcp: *mut c_void, now: u64, socket: u32) -> i64 {
    call(tcp, now, &Call::Accept { socket })
}

unsafe extern "C" fn connect(tcp: *mut c_void, now: u64, socket: u32, remote: *const Address) -> i64 {
    call(tcp, now, &Call::Connect { socket, remote: address(remote) })
}

unsafe extern "C" fn read(tcp: *mut c_void, now: u64, socket: u32, len: usize, bits: u32) -> i64 {
    let has = |bit: u32| bits & bit != 0;
    let flags = ReadFlags { peek: has(1), dont_wait: has(2), wait_all: has(4), truncate: has(8) };
    call(tcp, now, &Call::Read { socket, len, flags })
}

unsafe extern "C" fn write(tcp: *mut c_void, now: u64, socket: u32, len: usize, bits: u32) -> i64 {
    let has = |bit: u32| bits & bit != 0;
    let flags = WriteFlags { more: has(16), dont_wait: has(2), end_of_record: has(32) };
    call(tcp, now, &Call::Write { socket, len, flags })
}

unsafe extern "C" fn shutdown(tcp: *mut c_void, now: u64, socket: u32, how: c_int) -> i64 {
    call(tcp, now, &Call::Shutdown { socket, read: how != 1, write: how != 0 })
}

unsafe extern "C" fn close_socket(tcp: *mut c_void, now: u64, socket: u32) -> i64 {
    call(tcp, now, &Call::Close { socket })
}

unsafe extern "C" fn set_option(
    tcp: *mut c_void,
    now: u64,
    socket: u32,
    at: *const c_char,
    value: *const Value,
) -> i64 {
    let Some(option) = SocketOption::named(name(at)) else { return UNKNOWN };
    let Value { number, seconds, text } = *value;
    let value = match option {
        _ if !text.is_null() => OptionValue::Text(name(text).to_owned()),
        SocketOption::Linger => OptionValue::Linger { on: number != 0, seconds },
        _ => OptionValue::Integer(number),
    };
    call(tcp, now, &Call::SetOption { socket, option, value })
}

unsafe extern "C" fn get_option(tcp: *mut c_void, now: u64, socket: u32, at: *const c_char, value: *mut Value) -> i64 {
    let Some(option) = SocketOption::named(name(at)) else { return UNKNOWN };
    let held = held(tcp);
    match held.engine.call(Time(now), &Call::GetOption { socket, option }) {
        Answer::Value(OptionValue::Integer(number)) => (*value).number = number,
        Answer::Value(OptionValue::Linger { on, seconds }) => {
            ((*value).number, (*value).seconds) = (i64::from(on), seconds);
        }
        Answer::Value(OptionValue::Text(text)) => {
            held.text = CString::new(text).unwrap_or_default();
            (*value).text = held.text.as_ptr();
        }
        Answer::Failed(errno) => return -errno.number(),
        Answer::Done(_) | Answer::Wait | Answer::Unknown => return UNKNOWN,
    }
    0
}

unsafe extern "C" fn set_non_blocking(tcp: *mut c_void, now: u64, socket: u32, on: c_int) -> i64 {
    call(tcp, now, &Call::SetNonBlocking { socket, on: on != 0 })
}

unsafe extern "C" fn queue_length(tcp: *mut c_void, now: u64, socket: u32, at: *const c_char) -> i64 {
    Queue::named(name(at)).map_or(UNKNOWN, |queue| call(tcp, now, &Call::QueueLength { socket, queue }))
}

unsafe extern "C" fn poll(tcp: *mut c_void, now: u64, socket: u32) -> i64 {
    call(tcp, now, &Call::Poll { socket })
}

unsafe extern "C" fn info(tcp: *const c_void, now: u64, socket: u32, field: *const c_char, value: *mut i64) -> c_int {
    let found = (*tcp.cast::<Held>()).engine.info(Time(now), socket, name(field));
    found.into_iter().for_each(|found| *value = found);
    c_int::from(found.is_some())
}

unsafe extern "C" fn states(tcp: *const c_void, counts: *mut u32) -> c_int {
    const NAMES: &str =
        "LISTEN SYN_SENT SYN_RCVD ESTABLISHED FIN_WAIT_1 FIN_WAIT_2 CLOSE_WAIT CLOSING LAST_ACK TIME_WAIT CLOSED";
    let Some(states) = (*tcp.cast::<Held>()).engine.states() else { return 0 };
    let counts = std::slice::from_raw_parts_mut(counts, STATES);
    for state in states {
        let at = NAMES.split(' ').position(|name| name == state);
        at.and_then(|at| counts.get_mut(at)).into_iter().for_each(|count| *count += 1);
    }
    1
}

unsafe extern "C" fn drop_time_waits(tcp: *mut c_void) -> c_int {
    c_int::from(held(tcp).engine.drop_time_waits())
}

/// The table of this library.
#[unsafe(no_mangle)]
pub extern "C" fn ackclock_tcp() -> *const Table {
    static TABLE: Table = Table {
        version: VERSION,
        threads: 1,
        open: Some(open),
        close: Some(close),
        on_packet: Some(on_packet),
        poll_transmit: Some(poll_transmit),
        next_timer: Some(next_timer),
        on_timer: Some(on_timer),
        set: Some(set),
        socket: Some(socket),
        bind: Some(bind),
        listen: Some(listen),
        accept: Some(accept),
        connect: Some(connect),
        read: Some(read),
        write: Some(write),
        shutdown: Some(shutdown),
        close_socket: Some(close_socket),
        set_option: Some(set_option),
        get_option: Some(get_option),
        set_non_blocking: Some(set_non_blocking),
        queue_length: Some(queue_length),
        poll: Some(poll),
        info: Some(info),
        states: Some(states),
        drop_time_waits: Some(drop_time_waits),
    };
    &raw const TABLE
}
