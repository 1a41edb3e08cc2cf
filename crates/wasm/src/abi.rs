//! The module's exports and imports.
//!
//! A text is passed in as (address, length) of memory from [`alloc`], and returned as one number, its address in the upper
//! 32 bits and its length in the lower. Columns stay in place, and the answer contains their addresses. Nothing is freed:
//! an instance serves one request, and its memory is released with it. So no run can see the remains of another, not even
//! of one that ended in a trap.
#![expect(unsafe_code, reason = "the border of linear memory; ackclock.mjs is the other side")]

use crate::border::{Border, Column};
use serde_json::{json, Value};
use std::sync::Mutex;

/// The message of a panic. A panic ends the call with a trap, which carries no text.
static PANIC: Mutex<String> = Mutex::new(String::new());

#[link(wasm_import_module = "lab")]
extern "C" {
    /// Reports the share of the run that is done, 0 to 1.
    fn told(share: f64);
    /// Copies bytes of the request's file from byte `at` on into memory; returns their number, 0 beyond its end.
    fn read(at: f64, into: *mut u8, len: usize) -> usize;
}

struct Memory;

impl Border for Memory {
    fn told(&mut self, share: f64) {
        // SAFETY: passes a number out, and nothing back.
        unsafe { told(share) };
    }

    fn read(&mut self, at: u64, into: &mut [u8]) -> usize {
        // SAFETY: the other side writes no more than `len` bytes, into memory that is lent to it for the call.
        unsafe { read(at as f64, into.as_mut_ptr(), into.len()) }.min(into.len())
    }

    /// `{"f64": [[address, length], …]}`, a pair for each piece; lengths count numbers.
    fn column(&mut self, column: Column) -> Value {
        match column {
            Column::F64(pieces) => json!({ "f64": places(pieces) }),
            Column::U32(pieces) => json!({ "u32": places(pieces) }),
            Column::I32(pieces) => json!({ "i32": places(pieces) }),
            Column::U8(pieces) => json!({ "u8": places(pieces) }),
        }
    }
}

fn places<T>(pieces: Vec<Vec<T>>) -> Vec<[usize; 2]> {
    let place = |values: Vec<T>| {
        let values = values.leak();
        [values.as_ptr() as usize, values.len()]
    };
    pieces.into_iter().map(place).collect()
}

/// `len` bytes for the caller to fill.
#[unsafe(no_mangle)]
pub extern "C" fn alloc(len: usize) -> *mut u8 {
    vec![0u8; len].leak().as_mut_ptr()
}

/// See [`crate::answer`].
///
/// # Safety
/// The request is in memory from [`alloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ask(request: *const u8, len: usize) -> u64 {
    std::panic::set_hook(Box::new(|said| {
        if let Ok(mut kept) = PANIC.lock() {
            *kept = said.to_string();
        }
    }));
    // SAFETY: as the caller guarantees; the memory is never freed.
    give(crate::answer(unsafe { std::slice::from_raw_parts(request, len) }, &mut Memory))
}

/// The message of the panic that ended [`ask`] with a trap.
#[unsafe(no_mangle)]
pub extern "C" fn panic_message() -> u64 {
    give(PANIC.lock().map(|m| m.clone()).unwrap_or_default())
}

fn give(text: String) -> u64 {
    let bytes = text.into_bytes().leak();
    (bytes.as_ptr() as u64) << 32 | bytes.len() as u64
}
