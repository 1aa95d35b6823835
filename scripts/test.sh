#!/bin/sh
# Runs the tests and prints, at the end, every test that skipped and why. With IOLAB_NO_SKIP=1, for a
# machine on which `make setup` has run, a skip that tests/allowed-skips does not name is a failure.
set -u
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log" "$log".*' EXIT

# --show-output brings the SKIP lines of passing tests; the rest of what passing tests say is
# kept out of sight. A pipe would hide the status of cargo, so it goes through a file. Documentation
# has no examples to run (the tidy test sees to it): to look for them would take a minute.
# Half of the time of most tests is waiting for a disk, a network or a limit: two beside each other on
# a processor take little more than half the time.
RUST_TEST_THREADS=${RUST_TEST_THREADS:-$(($(nproc) * 2))}
export RUST_TEST_THREADS
{
    ${CARGO:-cargo} test --locked --workspace --features iolab/parquet --lib --bins --tests \
        --no-fail-fast "$@" -- --show-output 2>&1
    echo $? >"$log.status"
} | tee "$log" | awk '
    /^successes:$/ { quiet = 1 }
    /^(failures:|test result:)/ { quiet = 0 }
    !quiet || /^SKIP / { print; fflush() }'
status=$(cat "$log.status")

grep '^SKIP ' "$log" | sort -u >"$log.skipped"
echo
if [ -s "$log.skipped" ]; then
    echo "Skipped here, with the reason:"
    cat "$log.skipped"
else
    echo "No test was skipped."
fi
if [ "${IOLAB_NO_SKIP:-}" = 1 ]; then
    sh scripts/skips.sh <"$log.skipped" || status=1
fi
sum() { sed -n "s/^test result: .* \([0-9]*\) $1.*/\1/p" "$log" | awk '{s+=$1} END {print s+0}'; }
echo "$(sum passed) passed, $(sum failed) failed, $(wc -l <"$log.skipped") skipped"
exit "$status"
