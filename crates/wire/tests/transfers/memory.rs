//! No packet costs an allocation, counted by the allocator.

use crate::net::{addresses, MTU};
use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use ackclock_wire::{parse, Border, Buffers, Checksums, Dialect, Endpoint, Initial, Writing};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "an allocator's interface is unsafe; this one hands every call on")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // After the end of a thread the count is no longer read.
        _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
        _ = BYTES.try_with(|bytes| bytes.set(bytes.get() + layout.size() as i64));
        // SAFETY: the caller keeps the conditions of the same function.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        _ = BYTES.try_with(|bytes| bytes.set(bytes.get() - layout.size() as i64));
        // SAFETY: the caller keeps the conditions of the same function.
        unsafe { System.dealloc(at, layout) };
    }
}

/// The number of bytes that this thread has allocated and not freed.
pub(crate) fn live_bytes() -> i64 {
    BYTES.get()
}

/// Two endpoints and three buffers: every packet is delivered immediately, every eighth after the next one.
struct Pair {
    ends: [Endpoint; 2],
    bufs: [[u8; 1500]; 2],
    now: Time,
    packets: u64,
}

impl Pair {
    fn turn(&mut self, from: usize) {
        self.now.0 += 1_000_000;
        let mut held = None;
        loop {
            let i = usize::from(held.is_some());
            let written = self.ends[from].poll_transmit(self.now, Writing::Whole, &mut self.bufs[i], &mut ()).unwrap();
            if let Some(w) = written {
                self.packets += 1;
                if held.is_none() && self.packets.is_multiple_of(8) {
                    held = Some(w.len);
                    continue;
                }
                self.arrive(1 - from, i, w.len);
            }
            if let Some(len) = held.take() {
                self.arrive(1 - from, 0, len);
            }
            if written.is_none() {
                return;
            }
        }
    }

    fn arrive(&mut self, end: usize, buf: usize, len: usize) {
        let packet = parse(&self.bufs[buf][..len], Checksums::Verify).unwrap();
        self.ends[end].on_packet(self.now, &packet, &mut ());
        let n = self.ends[end].readable().0.len();
        self.ends[end].consume(n);
    }

    fn turns(&mut self, n: u64) {
        for _ in 0..n {
            while self.ends[0].write(&[7; 1000]) > 0 {}
            for end in 0..2 {
                if self.ends[end].next_timer().is_some_and(|t| t <= self.now) {
                    self.ends[end].on_timer(self.now, &mut ());
                }
                self.turn(end);
            }
        }
    }
}

#[test]
fn once_a_transfer_is_warm_no_packet_costs_an_allocation() {
    let [a, b] = addresses(false);
    let initial = Initial { isn: SeqNum(u32::MAX - 10), timestamp_offset: 5, label: 0 };
    let border = |from, to| Border::new(from, to, MTU, initial, Dialect::Linux).unwrap();
    let (stack, buffers) = (Stack::named("linux-2025").unwrap(), Buffers { send: 1 << 16, receive: 1 << 16 });
    let ends = [Endpoint::connect(&stack, border(a, b), buffers), Endpoint::listen(&stack, border(b, a), buffers)];
    let mut pair = Pair { ends, bufs: [[0; 1500]; 2], now: Time(1), packets: 0 };
    pair.turns(200);
    let (packets, calls) = (pair.packets, CALLS.get());
    pair.turns(2000);
    assert_eq!(CALLS.get() - calls, 0, "in {} packets", pair.packets - packets);
    assert!(pair.packets - packets > 20_000, "{}", pair.packets - packets);
}
