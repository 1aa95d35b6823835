//! Why work stopped, before anybody has said in words what was being done.

use iolab_model::result::Fault;
use rustix::io::Errno;

/// Why work stopped: it becomes a fault once it is known what was being done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// In words.
    pub cause: String,
    /// The errno, where there is one.
    pub errno: Option<i32>,
}

impl Stop {
    /// Without an errno.
    pub fn new(cause: impl Into<String>) -> Stop {
        Stop { cause: cause.into(), errno: None }
    }

    /// With the place in the file where it happened.
    #[cold]
    pub fn at_byte(mut self, at: u64) -> Stop {
        self.cause = format!("{} at byte {at}", self.cause);
        self
    }

    /// Where data could not be made durable: every byte was taken before.
    #[cold]
    pub fn of_sync(errno: Errno) -> Stop {
        let mut stop = Stop::from(errno);
        stop.cause += " when the data were to be made durable";
        stop
    }

    /// As the fault of what it stopped.
    pub fn fault(self, doing: impl Into<String>) -> Fault {
        Fault::new(doing, self.cause).errno(self.errno)
    }
}

impl From<Errno> for Stop {
    fn from(errno: Errno) -> Stop {
        Stop { cause: std::io::Error::from(errno).to_string(), errno: Some(errno.raw_os_error()) }
    }
}
