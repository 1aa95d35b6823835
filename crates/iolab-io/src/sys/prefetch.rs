//! What is needed soon, asked of memory before it is.

/// Begins to bring a value into the processor's caches; nothing waits for it. Any address is allowed.
#[inline(always)]
pub fn prefetch<T>(soon: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: PREFETCHT0 reads nothing that is seen, and an address that is not mapped is no fault.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(soon.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above for PRFM.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{0}]", in(reg) soon, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = soon;
}
