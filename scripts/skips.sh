#!/bin/sh
# Reads SKIP lines and fails for those that tests/allowed-skips does not allow, naming them.
set -eu
cd "$(dirname "$0")/.."
patterns=$(mktemp)
trap 'rm -f "$patterns"' EXIT
grep -v -e '^#' -e '^$' tests/allowed-skips >"$patterns"
if forbidden=$(sed -n 's/^SKIP //p' | grep -v -E -f "$patterns"); then
    printf 'IOLAB_NO_SKIP=1, and these may not skip where `make setup` has run (tests/allowed-skips):\n%s\n' \
        "$forbidden" >&2
    exit 1
fi
