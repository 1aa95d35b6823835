//! What all methods share that map a file.

use iolab_model::catalog::Pattern;

const WINDOW_BYTES: u64 = 1 << 20;

/// The operation of every mapping method: 1 MiB in sequential order, else a page.
pub(super) fn window_or_page(_: u64, pattern: Pattern) -> u64 {
    let page_bytes = crate::sys::page::page_bytes();
    if pattern == Pattern::Sequential { WINDOW_BYTES.max(page_bytes) } else { page_bytes }
}
