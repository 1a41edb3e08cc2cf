//! What the module exports.
//!
//! Texts go in as (address, length) of memory got from [`alloc`]; a text comes out as one number, its address in the upper
//! 32 bits and its length in the lower. Nothing is given back: an instance serves one run, and its memory goes with it.
//! So no run can see what another left behind, not even one that ended in a trap.
#![expect(unsafe_code, reason = "the border of linear memory; ackclock.mjs is the other side")]

use std::sync::Mutex;

/// What a panic said. A panic ends the call with a trap, which carries no text.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// `len` bytes for the caller to fill.
#[unsafe(no_mangle)]
pub extern "C" fn alloc(len: usize) -> *mut u8 {
    vec![0u8; len].leak().as_mut_ptr()
}

/// See [`crate::answer`].
///
/// # Safety
/// Both texts lie in memory got from [`alloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn run(
    scenario: *const u8,
    scenario_len: usize,
    stack: *const u8,
    stack_len: usize,
    seed: u64,
) -> u64 {
    std::panic::set_hook(Box::new(|said| {
        if let Ok(mut kept) = PANIC.lock() {
            *kept = said.to_string();
        }
    }));
    // SAFETY: as the caller promises; nothing frees them.
    let (scenario, stack) =
        unsafe { (std::slice::from_raw_parts(scenario, scenario_len), std::slice::from_raw_parts(stack, stack_len)) };
    give(crate::answer(scenario, stack, seed))
}

/// What the panic said that ended [`run`] with a trap.
#[unsafe(no_mangle)]
pub extern "C" fn panic_message() -> u64 {
    give(PANIC.lock().map(|m| m.clone()).unwrap_or_default())
}

fn give(text: String) -> u64 {
    let bytes = text.into_bytes().leak();
    (bytes.as_ptr() as u64) << 32 | bytes.len() as u64
}
