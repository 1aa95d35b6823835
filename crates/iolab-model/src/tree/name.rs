//! Names that are counted on in place: making one allocates and formats nothing.

const DIGITS: usize = 10;

/// A letter and ten digits, as a C string: `f0000000042`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name([u8; DIGITS + 2]);

impl Name {
    /// The name of number `number`; ten digits of it.
    pub fn new(letter: u8, number: u64) -> Name {
        let mut bytes = [b'0'; DIGITS + 2];
        bytes[0] = letter;
        bytes[DIGITS + 1] = 0;
        let mut rest = number;
        for digit in bytes[1..=DIGITS].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        Name(bytes)
    }

    /// The next number's.
    #[inline(always)]
    pub fn increment(&mut self) {
        for digit in self.0[1..=DIGITS].iter_mut().rev() {
            if *digit != b'9' {
                *digit += 1;
                return;
            }
            *digit = b'0';
        }
    }

    /// As the kernel takes it: with a NUL at its end.
    #[inline(always)]
    pub fn with_nul(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Name;

    #[test]
    fn names_count() {
        let mut name = Name::new(b'f', 0);
        for number in 0..2000 {
            assert_eq!(name, Name::new(b'f', number));
            assert_eq!(name.with_nul(), format!("f{number:010}\0").as_bytes());
            name.increment();
        }
    }
}
