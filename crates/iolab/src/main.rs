//! The exit code, and nothing else.

fn main() -> std::process::ExitCode {
    iolab::main()
}
