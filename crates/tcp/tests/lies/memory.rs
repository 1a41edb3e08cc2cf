//! The heap memory of the code under test, counted by the allocator, so that every list of a stack is included.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // After the end of a thread its count is not needed.
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

/// The result of `call`, and how many more bytes this thread holds than before.
pub(crate) fn measured<T>(call: impl FnOnce() -> T) -> (T, isize) {
    let before = HELD.get();
    let answer = call();
    (answer, HELD.get() - before)
}
