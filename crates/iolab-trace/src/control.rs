//! Calls on open files that move nothing and change neither contents nor names: what is kept of them in
//! the detail of [`crate::CallKind::Other`], so that they can be made again.

use crate::call::OpenFlags;

/// A lock, or that there is none any more. The numbers are those of the file format and of steps of a
/// replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Lock {
    /// Others may read.
    Shared = 0,
    /// Others may do nothing.
    Exclusive = 1,
    /// It is given back.
    Nothing = 2,
}

impl Lock {
    const ALL: [Lock; 3] = [Lock::Shared, Lock::Exclusive, Lock::Nothing];

    /// Its number.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The one of this number.
    pub fn from_number(number: u32) -> Option<Lock> {
        Lock::ALL.into_iter().find(|lock| lock.number() == number)
    }
}

/// One of those calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// fcntl that asks for flags, or sets those of the descriptor alone.
    Look,
    /// fstatfs, and statfs by name.
    FileSystem,
    /// fcntl(F_SETFL): `O_APPEND`, `O_DIRECT` and `O_NOATIME` as they are to be.
    Flags(OpenFlags),
    /// fcntl(F_SETLK) of a range, which belongs to the process.
    Range(Lock),
    /// flock, which belongs to the open file.
    Whole(Lock),
    /// fcntl(F_OFD_SETLK) of a range, which belongs to the open file.
    OpenFile(Lock),
    /// fcntl(F_GETLK): who would be in the way of a lock of a range.
    Holder,
}

/// The detail of a [`crate::CallKind::Attribute`] that asks for one by its name. A log has no names of
/// them.
pub const ASKS_FOR_ATTRIBUTE: u32 = 1;

/// Numbers of the file format: they are never used again. 0 is none of these calls.
const LOOK: u32 = 1;
const FILE_SYSTEM: u32 = 2;
const RANGE: u32 = 3;
const WHOLE: u32 = 6;
const FLAGS: u32 = 9;
const OPEN_FILE: u32 = 16;
const HOLDER: u32 = 19;
/// Flags stand above the number.
const FLAG_BITS: u32 = 8;

impl Control {
    /// Its number in a trace.
    pub fn code(self) -> u32 {
        match self {
            Control::Look => LOOK,
            Control::FileSystem => FILE_SYSTEM,
            Control::Range(lock) => RANGE + lock.number(),
            Control::Whole(lock) => WHOLE + lock.number(),
            Control::OpenFile(lock) => OPEN_FILE + lock.number(),
            Control::Holder => HOLDER,
            Control::Flags(flags) => FLAGS | flags.0 << FLAG_BITS,
        }
    }

    /// The call of this number; nothing where a trace does not say enough of it.
    pub fn from_code(code: u32) -> Option<Control> {
        match code {
            LOOK => Some(Control::Look),
            FILE_SYSTEM => Some(Control::FileSystem),
            RANGE..WHOLE => Lock::from_number(code - RANGE).map(Control::Range),
            WHOLE..FLAGS => Lock::from_number(code - WHOLE).map(Control::Whole),
            OPEN_FILE..HOLDER => Lock::from_number(code - OPEN_FILE).map(Control::OpenFile),
            HOLDER => Some(Control::Holder),
            _ if code & 0xff == FLAGS => Some(Control::Flags(OpenFlags(code >> FLAG_BITS))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Control, Lock};
    use crate::call::OpenFlags;

    #[test]
    fn numbers_are_read_back_and_stay() {
        let all = [
            (Control::Look, 1),
            (Control::FileSystem, 2),
            (Control::Range(Lock::Shared), 3),
            (Control::Range(Lock::Exclusive), 4),
            (Control::Range(Lock::Nothing), 5),
            (Control::Whole(Lock::Shared), 6),
            (Control::Whole(Lock::Exclusive), 7),
            (Control::Whole(Lock::Nothing), 8),
            (Control::OpenFile(Lock::Shared), 16),
            (Control::OpenFile(Lock::Exclusive), 17),
            (Control::OpenFile(Lock::Nothing), 18),
            (Control::Holder, 19),
            (Control::Flags(OpenFlags(64)), 9 + (64 << 8)),
        ];
        for (control, code) in all {
            assert_eq!((control.code(), Control::from_code(code)), (code, Some(control)));
        }
        assert_eq!(Control::from_code(0), None);
        assert_eq!(Control::from_code(10), None);
    }
}
