//! A conversation through packetdrill's table.

use super::*;
use ackclock_wire::{parse, Checksums};
use std::mem::{size_of, transmute};
use std::net::Ipv4Addr;
use std::ptr::{null, null_mut};

type Socket = unsafe extern "C" fn(User, c_int, c_int, c_int) -> c_int;
type Bind = unsafe extern "C" fn(User, c_int, *const sockaddr, socklen_t) -> c_int;
type Listen = unsafe extern "C" fn(User, c_int, c_int) -> c_int;
type Accept = unsafe extern "C" fn(User, c_int, *mut sockaddr, *mut socklen_t) -> c_int;
type Read = unsafe extern "C" fn(User, c_int, *mut c_void, size_t) -> ssize_t;
type Write = unsafe extern "C" fn(User, c_int, *const c_void, size_t) -> ssize_t;
type Send = unsafe extern "C" fn(User, *const c_void, size_t) -> c_int;
type Receive = unsafe extern "C" fn(User, *mut c_void, *mut size_t, *mut c_longlong) -> c_int;
type Clock = unsafe extern "C" fn(User, *mut timeval, *mut c_void) -> c_int;
type Sleep = unsafe extern "C" fn(User, useconds_t) -> c_int;

const REMOTE: (Ipv4Addr, u16) = (Ipv4Addr::new(192, 0, 2, 1), 40_000);
const LOCAL: (Ipv4Addr, u16) = (Ipv4Addr::new(192, 168, 0, 1), 8080);

/// A TCP segment from the peer, with its checksums.
fn segment(flags: u8, seq: u32, ack: u32, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; 40];
    packet[0] = 0x45;
    packet[2..4].copy_from_slice(&(40 + payload.len() as u16).to_be_bytes());
    (packet[8], packet[9]) = (64, 6);
    packet[12..16].copy_from_slice(&REMOTE.0.octets());
    packet[16..20].copy_from_slice(&LOCAL.0.octets());
    let sum = checksum(&packet[..20], 0);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet[20..22].copy_from_slice(&REMOTE.1.to_be_bytes());
    packet[22..24].copy_from_slice(&LOCAL.1.to_be_bytes());
    packet[24..28].copy_from_slice(&seq.to_be_bytes());
    packet[28..32].copy_from_slice(&ack.to_be_bytes());
    (packet[32], packet[33], packet[34]) = (0x50, flags, 0x40);
    packet.extend(payload);
    let pseudo = packet[12..20].chunks(2).map(|two| u32::from(two[0]) << 8 | u32::from(two[1])).sum::<u32>();
    let sum = checksum(&packet[20..], pseudo + 6 + packet.len() as u32 - 20);
    packet[36..38].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// RFC 1071.
fn checksum(bytes: &[u8], start: u32) -> u16 {
    let word = |two: &[u8]| u32::from(two[0]) << 8 | u32::from(*two.get(1).unwrap_or(&0));
    let mut sum = start + bytes.chunks(2).map(word).sum::<u32>();
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// The next packet, with its time in microseconds.
unsafe fn next(table: &Table) -> (Vec<u8>, i64) {
    let (mut bytes, mut len, mut time) = (vec![0_u8; 2000], 2000, 0);
    let receive = transmute::<*const c_void, Receive>(table[25]);
    assert_eq!(receive(null_mut(), bytes.as_mut_ptr().cast(), &raw mut len, &raw mut time), 0);
    bytes.truncate(len);
    (bytes, time)
}

unsafe fn send(table: &Table, packet: &[u8]) {
    let send = transmute::<*const c_void, Send>(table[24]);
    assert_eq!(send(null_mut(), packet.as_ptr().cast(), packet.len()), 0);
}

unsafe fn now(table: &Table) -> i64 {
    let mut at = timeval { tv_sec: 0, tv_usec: 0 };
    transmute::<*const c_void, Clock>(table[27])(null_mut(), &raw mut at, null_mut());
    at.tv_sec * 1_000_000 + at.tv_usec
}

/// A process has one plug-in, so one test contains the whole conversation.
#[test]
fn a_connection_is_accepted_read_and_written_through_the_table_on_virtual_time() {
    let mut table: Table = [null(); 33];
    // SAFETY: each entry of the table has the type that packetdrill gives it, and each pointer outlives its call.
    unsafe {
        packetdrill_interface_init(c"system=linux".as_ptr(), &raw mut table);
        assert!(table[1..].iter().all(|entry| !entry.is_null()));
        let listener = transmute::<*const c_void, Socket>(table[2])(null_mut(), libc::AF_INET, libc::SOCK_STREAM, 0);
        let address = crate::plugin::address_bytes(LOCAL.into());
        let len = address.len() as socklen_t;
        assert_eq!(transmute::<*const c_void, Bind>(table[3])(null_mut(), listener, address.as_ptr().cast(), len), 0);
        assert_eq!(transmute::<*const c_void, Listen>(table[4])(null_mut(), listener, 1), 0);

        send(&table, &segment(0x02, 100, 0, &[]));
        let (syn_ack, first_time) = next(&table);
        let header = parse(&syn_ack, Checksums::Verify).map(|packet| packet.header);
        let header = header.expect("a packet with correct checksums");
        assert_eq!((header.flags, header.ack.0, header.dst), (0x12, 101, REMOTE.into()));
        send(&table, &segment(0x10, 101, header.seq.0.wrapping_add(1), &[]));

        let (mut peer, mut len) = ([0_u8; 128], 128);
        let accept = transmute::<*const c_void, Accept>(table[5]);
        let fd = accept(null_mut(), listener, peer.as_mut_ptr().cast(), &raw mut len);
        assert!(fd > 2 && fd != listener, "{fd}");
        assert_eq!(
            (len as usize, crate::plugin::address(&peer)),
            (size_of::<libc::sockaddr_in>(), Some(REMOTE.into()))
        );

        send(&table, &segment(0x18, 101, header.seq.0.wrapping_add(1), b"abcd"));
        let mut bytes = [9_u8; 10];
        assert_eq!(transmute::<*const c_void, Read>(table[7])(null_mut(), fd, bytes.as_mut_ptr().cast(), 10), 4);
        assert_eq!(bytes, [0, 0, 0, 0, 9, 9, 9, 9, 9, 9]);
        assert_eq!(transmute::<*const c_void, Write>(table[12])(null_mut(), fd, bytes.as_ptr().cast(), 6), 6);
        let lens: Vec<usize> = (0..2).map(|_| next(&table).0.len()).collect();
        assert!(lens.contains(&46), "six bytes of data: {lens:?}");

        // Nothing acknowledges the data, so a timeout follows, in virtual time alone.
        let before = now(&table);
        let (again, at) = next(&table);
        assert_eq!(again.len(), 46);
        assert!(at - before >= 190_000 && at > first_time, "{at} after {before}");
        let before = now(&table);
        transmute::<*const c_void, Sleep>(table[26])(null_mut(), 5_000_000);
        assert_eq!(now(&table) - before, 5_000_000);

        // A few reads of the clock take no time; a program that waits by reading the clock makes progress.
        let looks: Vec<i64> = (0..200).map(|_| now(&table)).collect();
        assert!(looks[9] == looks[0] && looks[199] >= looks[0] + 50, "{looks:?}");

        // `TCP_INFO` without the table, with a buffer longer than the structure.
        let (mut info, mut len) = ([0_u8; 300], 300);
        assert_eq!(getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, info.as_mut_ptr().cast(), &raw mut len), 0);
        assert_eq!((len, info[0]), (300, 1), "TCP_ESTABLISHED");
    }
}

#[test]
fn an_address_is_read_as_it_was_written_and_a_mapped_one_is_ipv4() {
    for text in ["192.0.2.7:80", "[2001:db8::9]:443"] {
        let one: SocketAddr = text.parse().expect("an address");
        assert_eq!(crate::plugin::address(&crate::plugin::address_bytes(one)), Some(one));
    }
    let mapped: SocketAddr = "[::ffff:192.0.2.7]:80".parse().expect("an address");
    let plain: SocketAddr = "192.0.2.7:80".parse().expect("an address");
    assert_eq!(crate::plugin::address(&crate::plugin::address_bytes(mapped)), Some(plain));
}
