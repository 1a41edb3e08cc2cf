//! The module's exports and imports.
//!
//! A text is passed in through memory from [`alloc`], and returned as one number, its address in the upper 32 bits and its length
//! in the lower. Columns stay in place, and the answer contains their addresses. All of it is lent until [`release`]: then the
//! memory serves the next request (decision 0076). Nothing else lasts from one request to the next. An instance in which a
//! request ended in a trap serves no other.
#![expect(unsafe_code, reason = "the border of linear memory; ackclock.mjs is the other side")]

use crate::border::{Border, Column};
use serde_json::{json, Value};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the other side reads or fills.
struct Lent {
    request: Vec<u8>,
    columns: Vec<Column>,
    answer: String,
}

const NOTHING: Lent = Lent { request: Vec::new(), columns: Vec::new(), answer: String::new() };

static LENT: Mutex<Lent> = Mutex::new(NOTHING);

fn lent() -> MutexGuard<'static, Lent> {
    LENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The message of a panic. A panic ends the call with a trap, which carries no text.
static PANIC: Mutex<String> = Mutex::new(String::new());

#[link(wasm_import_module = "lab")]
unsafe extern "C" {
    /// Reports the share of the run that is done, 0 to 1.
    fn progress(share: f64);
    /// Copies bytes of the request's file from byte `at` on into memory; returns their number, 0 beyond its end.
    fn read(at: f64, into: *mut u8, len: usize) -> usize;
}

struct Memory;

impl Border for Memory {
    fn progress(&mut self, share: f64) {
        // SAFETY: passes a number out, and nothing back.
        unsafe { progress(share) };
    }

    fn read(&mut self, at: u64, into: &mut [u8]) -> usize {
        // SAFETY: the other side writes no more than `len` bytes, into memory that is lent to it for the call.
        unsafe { read(at as f64, into.as_mut_ptr(), into.len()) }.min(into.len())
    }

    /// `{"f64": [[address, length], …]}`, a pair for each piece; lengths count numbers.
    fn column(&mut self, column: Column) -> Value {
        let progress = match &column {
            Column::F64(pieces) => json!({ "f64": places(pieces) }),
            Column::U32(pieces) => json!({ "u32": places(pieces) }),
            Column::I32(pieces) => json!({ "i32": places(pieces) }),
            Column::U8(pieces) => json!({ "u8": places(pieces) }),
        };
        lent().columns.push(column);
        progress
    }
}

fn places<T>(pieces: &[Vec<T>]) -> Vec<[usize; 2]> {
    pieces.iter().map(|values| [values.as_ptr() as usize, values.len()]).collect()
}

/// `len` bytes for the caller to fill with the request.
#[unsafe(no_mangle)]
pub extern "C" fn alloc(len: usize) -> *mut u8 {
    let mut request = vec![0; len];
    let place = request.as_mut_ptr();
    lent().request = request;
    place
}

/// See [`crate::answer`].
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> u64 {
    std::panic::set_hook(Box::new(|panic| {
        if let Ok(mut kept) = PANIC.lock() {
            *kept = panic.to_string();
        }
    }));
    let request = std::mem::take(&mut lent().request);
    let answer = crate::answer(&request, &mut Memory);
    let place = place(&answer);
    lent().answer = answer;
    place
}

/// The message of the panic that ended [`ask`] with a trap; it stays in place, since the instance ends.
#[unsafe(no_mangle)]
pub extern "C" fn panic_message() -> u64 {
    place(PANIC.lock().map(|m| m.clone()).unwrap_or_default().leak())
}

/// Takes back what was lent: the caller has copied the answer.
#[unsafe(no_mangle)]
pub extern "C" fn release() {
    *lent() = NOTHING;
}

fn place(text: &str) -> u64 {
    (text.as_ptr() as u64) << 32 | text.len() as u64
}
