//! Prefetches memory before it is needed.

/// Prefetches the cache line with the byte at `offset` from the beginning of a slice. The byte may be beyond the end; the call
/// then has no benefit. It does nothing on processors without such an instruction.
#[inline(always)]
pub(crate) fn fetch<T>(slice: &[T], offset: usize) {
    let at = slice.as_ptr().cast::<i8>().wrapping_add(offset);
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "no safe call requests memory without waiting for it")]
    // SAFETY: the instruction reads nothing that the program could observe, and no address makes it fault.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        _mm_prefetch::<_MM_HINT_T0>(at);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
