//! Memory that nothing has touched yet: a call that writes there waits for the kernel to find pages.

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use super::page::page_bytes;

/// Pages that are kept untouched at most; when they are used up they are given back and taken again.
const MOST_PAGES: usize = 16 << 10;

/// A range of which the first part has been touched. What is put there lies on its border, so that as much
/// as is asked for of it is new.
#[derive(Debug)]
pub struct NewMemory {
    start: *mut u8,
    bytes: usize,
    page_bytes: usize,
    /// Pages that are always touched, that the border may reach, and where the border is.
    touched: usize,
    limit: usize,
    border: usize,
}

// SAFETY: the range belongs to this value alone.
unsafe impl Send for NewMemory {}

impl NewMemory {
    /// For places of at most `most_bytes` with at most `touched` pages that are not new, which bring `pages`
    /// into use in all.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn new(most_bytes: usize, touched: usize, pages: usize) -> Result<NewMemory, Errno> {
        let page_bytes = page_bytes() as usize;
        let most = most_bytes / page_bytes + 2;
        let limit = touched + pages.min(MOST_PAGES.max(most));
        let bytes = (limit + most) * page_bytes;
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: the kernel chooses the address, so no memory in use is replaced.
        let start = unsafe {
            mmap_anonymous(std::ptr::null_mut(), bytes, protection, flags | MapFlags::NORESERVE)?
        };
        // The program's heap is of small pages: so large a range may be given large ones.
        // SAFETY: the range is the one that was just mapped. A kernel without large pages refuses, as wanted.
        let _ = unsafe { madvise(start, bytes, Advice::LinuxNoHugepage) };
        let start = start.cast::<u8>();
        for page in 0..touched {
            // SAFETY: within the range; written where nobody else looks.
            unsafe { start.add(page * page_bytes).write_volatile(1) };
        }
        Ok(NewMemory { start, bytes, page_bytes, touched, limit, border: touched })
    }

    /// A place of `asked` bytes, `into_page` bytes into a page. A call that fills `moved` of them from the
    /// start on is the first to touch `new` pages.
    pub fn place(&mut self, asked: usize, moved: usize, new: usize, into_page: usize) -> &mut [u8] {
        self.make_room(new);
        let pages = (into_page + moved).div_ceil(self.page_bytes);
        let before = pages.saturating_sub(new).min(self.border);
        let at = (self.border - before) * self.page_bytes + into_page;
        self.border += new;
        let asked = asked.min(self.bytes.saturating_sub(at));
        // SAFETY: `at + asked` is within the range, which nothing else refers to while the slice lives.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(at), asked) }
    }

    /// Gives back what was touched where no `new` pages are left.
    pub fn make_room(&mut self, new: usize) {
        if self.border + new <= self.limit {
            return;
        }
        let (from, to) = (self.touched * self.page_bytes, self.border * self.page_bytes);
        // SAFETY: the range is ours, and no slice of it lives while `self` is borrowed.
        let _ = unsafe { madvise(self.start.add(from).cast(), to - from, Advice::LinuxDontNeed) };
        self.border = self.touched;
    }
}

impl Drop for NewMemory {
    fn drop(&mut self) {
        // SAFETY: the range is the one that `new` mapped, and nothing borrows it any more.
        let _ = unsafe { munmap(self.start.cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_PAGES, NewMemory};
    use crate::sys::page::page_bytes;

    fn resident(memory: &NewMemory) -> usize {
        let mut pages = vec![0_u8; memory.bytes / memory.page_bytes];
        // SAFETY: the range is mapped, and there is a byte for each of its pages.
        let code =
            unsafe { libc::mincore(memory.start.cast(), memory.bytes, pages.as_mut_ptr().cast()) };
        assert_eq!(code, 0);
        pages.iter().filter(|page| **page & 1 == 1).count()
    }

    /// Pages that filling a place brings into use.
    fn brought(memory: &mut NewMemory, moved: usize, new: usize) -> i64 {
        memory.make_room(new);
        let before = resident(memory) as i64;
        memory.place(moved, moved, new, 1024).iter_mut().for_each(|byte| *byte = 7);
        resident(memory) as i64 - before
    }

    #[test]
    fn as_many_pages_are_new_as_were_asked_for() {
        let page = page_bytes() as usize;
        let mut memory = NewMemory::new(40 * page, 41, 100).unwrap();
        for new in [0, 1, 39, 5, 0, 30, 40, 12] {
            assert_eq!(brought(&mut memory, 40 * page, new), new as i64);
        }
        assert_eq!(brought(&mut memory, 3, 0), 0);
        let mut many = NewMemory::new(page, 0, 2 * MOST_PAGES).unwrap();
        let places = (0..2 * MOST_PAGES).map(|_| many.place(page, page, 1, 0).len());
        assert!(places.into_iter().all(|bytes| bytes == page));
    }
}
