#!/bin/sh
# Runs the tests and prints, at the end, every test that skipped and why.
set -u
log=$(mktemp)
trap 'rm -f "$log" "$log.status"' EXIT

# --show-output brings the SKIP lines of passing tests; the rest of what passing tests say is
# kept out of sight. A pipe would hide the status of cargo, so it goes through a file.
{
    ${CARGO:-cargo} test --locked --workspace --no-fail-fast "$@" -- --show-output 2>&1
    echo $? >"$log.status"
} | tee "$log" | awk '
    /^successes:$/ { quiet = 1 }
    /^(failures:|test result:)/ { quiet = 0 }
    !quiet || /^SKIP / { print; fflush() }'
status=$(cat "$log.status")

echo
if grep -q '^SKIP ' "$log"; then
    echo "Skipped here, with the reason:"
    grep '^SKIP ' "$log" | sort -u
else
    echo "No test was skipped."
fi
sum() { sed -n "s/^test result: .* \([0-9]*\) $1.*/\1/p" "$log" | awk '{s+=$1} END {print s+0}'; }
echo "$(sum passed) passed, $(sum failed) failed, $(grep '^SKIP ' "$log" | sort -u | wc -l) skipped"
exit "$status"
