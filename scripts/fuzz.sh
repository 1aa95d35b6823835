#!/bin/sh
# Feeds nonsense to what reads bytes of strangers, a while for each target: SECONDS=3600 make fuzz. What
# breaks a target lies in fuzz/artifacts afterwards: put it into fuzz/corpus/TARGET with its fix.
set -eu
cd "$(dirname "$0")/.."
skip() { echo "SKIP fuzz: $1" >&2; exit 0; }

command -v cargo-fuzz >/dev/null 2>&1 || {
    # Without it the tests' own mutations, a hundred times as many as a test run makes.
    echo "cargo-fuzz is missing (cargo install cargo-fuzz): seeded mutations instead" >&2
    IOLAB_TRUST=1 exec ${CARGO:-cargo} test --release --locked -p iolab --features iolab/parquet \
        --test records -- fuzz::whatever --nocapture
}
cargo +nightly --version >/dev/null 2>&1 || skip "no nightly compiler: rustup toolchain install nightly"
good=$(mktemp -d)
trap 'rm -rf "$good"' EXIT
cp crates/iolab-study/studies/*.toml crates/iolab/tests/fixtures/*/*.json \
    crates/iolab-model/src/spec/file/example.toml "$good"
for target in $(cargo +nightly fuzz list); do
    mkdir -p "fuzz/corpus/$target"
    # New inputs go into the first folder: what is kept is chosen by hand.
    cargo +nightly fuzz run "$target" "$(mktemp -d -p "$good")" "fuzz/corpus/$target" "$good" -- \
        "-max_total_time=${SECONDS:-60}" -rss_limit_mb=1024 -max_len=65536
done
