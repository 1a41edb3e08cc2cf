//! Asking the processor for memory before it is needed.

/// Asks for the line of the processor's cache in which the byte lies that is `offset` behind the beginning of a slice. It may lie behind the end:
/// then nothing is gained. Where there is no such instruction nothing happens.
#[inline(always)]
pub(crate) fn fetch<T>(slice: &[T], offset: usize) {
    let at = slice.as_ptr().cast::<i8>().wrapping_add(offset);
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "memory cannot be asked for without waiting for it otherwise")]
    // SAFETY: the instruction reads nothing that the program could see, and no address makes it fault.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        _mm_prefetch::<_MM_HINT_T0>(at);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
