//! Prefetches memory before it is needed.

/// Bytes of a cache line.
const LINE: usize = 64;

/// Prefetches the cache line with the byte at an address. Any address will do, also one where nothing is; the call then has no
/// benefit. It does nothing on processors without such an instruction.
#[inline(always)]
pub fn fetch(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "no safe call requests memory without waiting for it")]
    // SAFETY: the instruction reads nothing that the program could observe, and no address makes it fault.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Prefetches each cache line of a value, but nothing that it points at.
#[inline(always)]
pub(crate) fn fetch_all<T>(of: &T) {
    let at = std::ptr::from_ref(of).cast::<u8>();
    for offset in (0..size_of::<T>()).step_by(LINE) {
        fetch(at.wrapping_add(offset));
    }
    fetch(at.wrapping_add(size_of::<T>().saturating_sub(1)));
}
