//! What the code under test holds on the heap, counted by the allocator: whatever list a stack keeps, now or later.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // After a thread's end nobody asks any more.
    _ = HELD.try_with(|held| held.set(held.get() + bytes));
}

#[expect(unsafe_code, reason = "an allocator's interface is unsafe; this one hands every call on")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        System.alloc(layout)
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        System.dealloc(at, layout);
    }
}

/// What `call` returns, and how many bytes more than before it are held by this thread.
pub(crate) fn measured<T>(call: impl FnOnce() -> T) -> (T, isize) {
    let before = HELD.get();
    let answer = call();
    (answer, HELD.get() - before)
}
