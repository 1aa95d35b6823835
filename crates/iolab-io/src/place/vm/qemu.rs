//! qemu: started, watched until the guest greets, and killed with us.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::guest::{GREETING, PORT_NAME};
use super::{Setup, initramfs};
use crate::place::fault;
use crate::place::kind::Missing;
use crate::place::tool::Tool;
use crate::sys::child::dies_with_us;
use iolab_model::result::Fault;

/// What runs a guest.
pub const QEMU: Tool = Tool { command: "qemu-system-x86_64", package: "qemu-system-x86" };
/// A guest under KVM greets within a second or two. On some machines /dev/kvm opens and the guest
/// hangs at boot: then emulation is taken.
const KVM_BOOT_LIMIT: Duration = Duration::from_secs(10);
const EMULATED_BOOT_LIMIT: Duration = Duration::from_secs(180);

/// What runs the guest's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accelerator {
    /// The processor.
    Kvm,
    /// A program: timings mean something among themselves only.
    Emulated,
}

impl Accelerator {
    /// The word of qemu, also in results.
    pub const fn name(self) -> &'static str {
        match self {
            Accelerator::Kvm => "kvm",
            Accelerator::Emulated => "tcg",
        }
    }
}

/// Whether a guest can be started here.
///
/// # Errors
/// qemu is missing, with its package; the kernel is another matter.
pub fn available() -> Result<(), Missing> {
    QEMU.find().map(|_| ())
}

/// A running guest that has greeted. Dropped, it is killed.
#[derive(Debug)]
pub struct Machine {
    child: Child,
    /// To the guest.
    pub input: Option<ChildStdin>,
    /// From the guest.
    pub output: Option<File>,
    /// What runs it.
    pub accelerator: Accelerator,
    /// The kernel that greeted.
    pub kernel: String,
    /// Why not KVM, where it is emulated.
    pub note: Option<String>,
    /// From start to greeting.
    pub boot_ns: u64,
    console: File,
}

impl Machine {
    /// Boots under KVM where that truly works, else emulated.
    ///
    /// # Errors
    /// Neither boots: with the console's last words.
    pub fn boot(setup: &Setup) -> Result<Machine, Fault> {
        let initramfs = initramfs(setup)?;
        let kvm = File::options().read(true).write(true).open("/dev/kvm");
        let note = match kvm {
            Err(error) => format!("/dev/kvm: {error}"),
            Ok(_) => match start(setup, &initramfs, Accelerator::Kvm, KVM_BOOT_LIMIT) {
                Ok(machine) => return Ok(machine),
                Err(fault) => format!("KVM did not boot: {}", fault.cause),
            },
        };
        let mut machine = start(setup, &initramfs, Accelerator::Emulated, EMULATED_BOOT_LIMIT)?;
        machine.note = Some(note);
        Ok(machine)
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, in words, where it has.
    pub fn ending(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        Some(format!("the virtual machine ended: {status}"))
    }

    /// Waits for the guest to power off by itself.
    ///
    /// # Errors
    /// It does not within the limit, and is killed.
    pub fn wait(mut self, limit: Duration) -> Result<(), Fault> {
        let start = Instant::now();
        while start.elapsed() < limit {
            if self.child.try_wait().is_ok_and(|status| status.is_some()) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(Missing::new("it did not power off", "it was killed").fault("end the guest"))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(
    setup: &Setup,
    initramfs: &File,
    accelerator: Accelerator,
    limit: Duration,
) -> Result<Machine, Fault> {
    let doing = || format!("boot {} with {}", setup.kernel.version, accelerator.name());
    let console = rustix::fs::memfd_create(c"iolab-console", rustix::fs::MemfdFlags::CLOEXEC)
        .map_err(|e| fault(doing(), &e.into(), ""))?;
    let console = File::from(console);
    let program = QEMU.find().map_err(|missing| missing.fault(doing()))?;
    let mut command = Command::new(program);
    // In a group of its own: Ctrl-C at the terminal is the controller's to understand.
    command.args(words(setup, initramfs, &console, accelerator)).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = dies_with_us(&mut command).spawn().map_err(|e| fault(doing(), &e, ""))?;
    let output = child.stdout.take().map(|out| File::from(OwnedFd::from(out)));
    let input = child.stdin.take();
    let boot_ns = 0;
    let kernel = String::new();
    let mut machine =
        Machine { child, input, output, accelerator, kernel, note: None, boot_ns, console };
    match machine.output.as_mut().map(|output| greeting(output, limit)) {
        Some(Ok(kernel)) => {
            machine.kernel = kernel;
            machine.boot_ns = started.elapsed().as_nanos() as u64;
            Ok(machine)
        }
        other => {
            let error = other.map_or_else(String::new, |r| r.err().unwrap_or_default());
            let said = last_words(&mut machine);
            let remedy = "`iolab doctor` shows what a guest needs";
            Err(Missing::new(format!("{error}: {said}"), remedy).fault(doing()))
        }
    }
}

/// The first line, byte by byte: what follows it belongs to the protocol.
fn greeting(output: &mut File, limit: Duration) -> Result<String, String> {
    let start = Instant::now();
    let mut line = Vec::new();
    loop {
        let left = limit.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Err(format!("no word from the guest in {} s", limit.as_secs()));
        }
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: 0 };
        let timeout = Timespec { tv_sec: timeout.tv_sec.max(1), ..timeout };
        let mut fds = [PollFd::from_borrowed_fd(output.as_fd(), PollFlags::IN)];
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(error) => return Err(error.to_string()),
        }
        let mut byte = [0];
        match output.read(&mut byte).map_err(|e: io::Error| e.to_string())? {
            0 => return Err("the guest ended".into()),
            _ if byte[0] == b'\n' => break,
            _ => line.push(byte[0]),
        }
        if line.len() > 256 {
            return Err("it speaks another language".into());
        }
    }
    let line = String::from_utf8_lossy(&line).into_owned();
    let kernel = line.strip_prefix(GREETING).map(|rest| rest.trim().to_owned());
    kernel.ok_or_else(|| format!("it said {line:?}"))
}

/// What qemu or the guest's console said last.
fn last_words(machine: &mut Machine) -> String {
    let _ = machine.child.kill();
    let mut said = String::new();
    if let Some(stderr) = &mut machine.child.stderr {
        let _ = stderr.read_to_string(&mut said);
    }
    let console = std::fs::read(descriptor(&machine.console)).unwrap_or_default();
    said.push_str(&String::from_utf8_lossy(&console));
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let panic = lines.iter().position(|line| line.contains("Kernel panic"));
    let from = panic.unwrap_or(lines.len().saturating_sub(3));
    lines[from..].iter().take(3).copied().collect::<Vec<_>>().join(" / ")
}

/// A descriptor of this process as another one can open it.
fn descriptor(file: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}

fn words(setup: &Setup, initramfs: &File, console: &File, accelerator: Accelerator) -> Vec<String> {
    let mut words: Vec<String> =
        ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-machine", "pc"]
            .map(str::to_owned)
            .to_vec();
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    option("-accel", accelerator.name().into());
    let cpu = if accelerator == Accelerator::Kvm { "host" } else { "max" };
    option("-cpu", cpu.into());
    option("-m", format!("{}M", setup.memory_bytes >> 20));
    option("-smp", setup.processors.to_string());
    option("-kernel", setup.kernel.image.display().to_string());
    option("-initrd", descriptor(initramfs));
    option("-append", kernel_line(setup));
    option("-chardev", format!("file,id=console,path={}", descriptor(console)));
    option("-serial", "chardev:console".into());
    option("-device", "virtio-serial-pci".into());
    option("-chardev", "stdio,id=port,signal=off".into());
    option("-device", format!("virtserialport,chardev=port,name={PORT_NAME}"));
    for (number, disk) in setup.disks.iter().enumerate() {
        let file = escaped(&disk.path());
        let cache = setup.cache.name();
        option(
            "-drive",
            format!("file={file},if=none,id=d{number},format=raw,cache={cache},file.locking=off"),
        );
        option("-device", format!("virtio-blk-pci,drive=d{number}"));
    }
    words
}

/// A comma in a value of qemu's is written twice.
fn escaped(path: &std::path::Path) -> String {
    path.display().to_string().replace(',', ",,")
}

fn kernel_line(setup: &Setup) -> String {
    let first = "console=ttyS0 quiet loglevel=4 panic=-1 rdinit=/init random.trust_cpu=on --";
    format!("{first} {}", setup.arguments.join(" "))
}
