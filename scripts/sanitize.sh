#!/bin/sh
# Runs the tests of the room with `unsafe` (crates/iolab-io/src/sys) and of the methods, which lean on it,
# under AddressSanitizer, which sees what is read or written beside what is ours. It wants the nightly
# compiler; without it valgrind does what it can with the ordinary tests; without both it is skipped aloud.
# Miri runs none of this: nearly all of the room is system calls, which it does not know.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
target=$(uname -m)-unknown-linux-gnu
tests="sys:: method::"

if $cargo +nightly --version >/dev/null 2>&1 &&
    ls "$(rustc +nightly --print sysroot)/lib/rustlib/$target/lib/"*rt.asan.a >/dev/null 2>&1; then
    # Forked children leave by _exit and free nothing: leaks say nothing here.
    RUSTFLAGS="-Zsanitizer=address" ASAN_OPTIONS="detect_leaks=0:abort_on_error=1" \
        $cargo +nightly test --locked --target "$target" --target-dir target/sanitize \
        -p iolab-io --lib -- $tests
    echo "sanitize: AddressSanitizer found nothing in $tests"
elif command -v valgrind >/dev/null 2>&1; then
    echo "sanitize: no nightly compiler (rustup toolchain install nightly): valgrind instead" >&2
    binary=$($cargo test --locked -p iolab-io --lib --no-run --message-format json |
        sed -n 's/.*"executable":"\([^"]*iolab_io[^"]*\)".*/\1/p' | tail -1)
    (cd crates/iolab-io && valgrind --quiet --error-exitcode=9 --leak-check=no "$binary" $tests)
    echo "sanitize: valgrind found nothing in $tests"
else
    echo "SKIP sanitize: neither a nightly compiler nor valgrind is here" >&2
fi
