//! The heap memory that a thread holds, counted by the allocator, so that every list of the code under test is included.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // After the end of a thread its count is not needed.
    _ = HELD.try_with(|held| held.set(held.get() + bytes));
    if bytes > 0 {
        _ = MOST.try_with(|most| most.set(most.get().max(HELD.get())));
    }
}

#[expect(unsafe_code, reason = "an allocator's interface is unsafe; this one hands every call on")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the conditions of the same function.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller keeps the conditions of the same function.
        unsafe { System.dealloc(at, layout) };
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: the caller keeps the conditions of the same function.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// The result of `call`, the most heap memory that this thread added during it, and the memory that it still holds, bytes.
pub(crate) fn measured<T>(call: impl FnOnce() -> T) -> (T, isize, isize) {
    let before = HELD.get();
    MOST.set(before);
    let answer = call();
    (answer, MOST.get() - before, HELD.get() - before)
}
