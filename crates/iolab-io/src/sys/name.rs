//! Names for the kernel, made within the timed window.

use std::ffi::CStr;

/// The text up to its first NUL; nothing where there is none. As `CStr::from_bytes_until_nul`, which is a
/// call of its own: the return from it, the first one after a call of the kernel, costs more than all of the
/// search on some processors (docs/performance.md).
#[inline(always)]
pub fn until_nul(bytes: &[u8]) -> Option<&CStr> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    // SAFETY: the slice ends in the first NUL that there is.
    bytes.get(..=end).map(|text| unsafe { CStr::from_bytes_with_nul_unchecked(text) })
}

#[cfg(test)]
mod tests {
    use super::until_nul;

    #[test]
    fn a_name_ends_at_its_first_nul() {
        assert_eq!(until_nul(b"f0042\0f0043\0"), Some(c"f0042"));
        assert_eq!(until_nul(b"\0"), Some(c""));
        assert_eq!(until_nul(b"f0042"), None);
        assert_eq!(until_nul(b""), None);
    }
}
