#!/bin/sh
# Feeds nonsense to what reads text, a while for each target: SECONDS=60 make fuzz.
set -eu
cd "$(dirname "$0")/.."
skip() { echo "SKIP fuzz: $1" >&2; exit 0; }

command -v cargo-fuzz >/dev/null 2>&1 || skip "cargo-fuzz is missing: cargo install cargo-fuzz"
cargo +nightly --version >/dev/null 2>&1 || skip "no nightly compiler: rustup toolchain install nightly"
for target in $(cargo +nightly fuzz list); do
    cargo +nightly fuzz run "$target" -- "-max_total_time=${SECONDS:-60}"
done
