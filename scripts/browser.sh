#!/bin/sh
# Opens the HTML report in a real browser. Installs chromium and the one node module where that is
# possible (Debian, root); elsewhere it says SKIP and what is missing.
set -eu
cd "$(dirname "$0")/.."
skip() { echo "SKIP browser test: $1" >&2; exit 0; }

missing=""
for row in node:nodejs npm:npm chromium:chromium; do
    command -v "${row%%:*}" >/dev/null 2>&1 || missing="$missing ${row##*:}"
done
if [ -n "$missing" ]; then
    { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; } || skip "missing:$missing"
    apt-get update -qq || skip "missing:$missing, and no package index"
    # shellcheck disable=SC2086 # a list of packages
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing ||
        skip "cannot install:$missing"
fi

(cd tests/browser && npm ci --ignore-scripts --silent) || skip "npm ci failed: no registry?"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"${CARGO:-cargo}" run --locked --quiet -p iolab-report --example charts -- "$out" >/dev/null
CHROMIUM=$(command -v chromium) node tests/browser/report.mjs "$out" "${IOLAB_SCREENSHOTS:-target/screenshots}"
