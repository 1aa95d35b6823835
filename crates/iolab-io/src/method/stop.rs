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
