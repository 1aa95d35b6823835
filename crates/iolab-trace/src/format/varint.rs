//! Numbers of seven bits a byte, the low ones first (LEB128); signed ones zigzag.

use crate::error::TraceError;

/// Appends a number.
pub(super) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a number that may be below zero.
pub(super) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// Appends a count and so many bytes.
pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Bytes that are read one number after another; where they end too early is told.
pub(super) struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(all: &'a [u8], at: usize) -> Bytes<'a> {
        Bytes { all, at }
    }

    pub(super) fn left(&self) -> usize {
        self.all.len() - self.at
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.left() == 0
    }

    pub(super) fn damaged(&self, why: &'static str) -> TraceError {
        TraceError::Damaged { at_byte: self.at as u64, why }
    }

    pub(super) fn byte(&mut self) -> Result<u8, TraceError> {
        let byte = self.all.get(self.at).copied();
        self.at += 1;
        byte.ok_or(TraceError::Damaged { at_byte: self.at as u64 - 1, why: "it ends too early" })
    }

    pub(super) fn number(&mut self) -> Result<u64, TraceError> {
        let (mut value, mut shift) = (0u64, 0u32);
        loop {
            let byte = self.byte()?;
            if shift == 63 && byte > 1 {
                return Err(self.damaged("a number of more than 64 bits"));
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
            shift += 7;
        }
    }

    pub(super) fn signed(&mut self) -> Result<i64, TraceError> {
        let value = self.number()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    pub(super) fn index(&mut self) -> Result<u32, TraceError> {
        let value = self.number()?;
        u32::try_from(value).map_err(|_| self.damaged("an index of more than 32 bits"))
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], TraceError> {
        let count = self.number()?;
        let count = usize::try_from(count).ok().filter(|count| *count <= self.left());
        let count = count.ok_or_else(|| self.damaged("it ends too early"))?;
        let bytes = &self.all[self.at..self.at + count];
        self.at += count;
        Ok(bytes)
    }

    /// A count of things that take at least `least` bytes each: no memory is given to more.
    pub(super) fn count(&mut self, least: usize) -> Result<usize, TraceError> {
        let count = self.number()?;
        let most = self.left() / least.max(1);
        let count = usize::try_from(count).ok().filter(|count| *count <= most);
        count.ok_or_else(|| self.damaged("a count of more than the file can hold"))
    }
}
