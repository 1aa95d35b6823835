#!/bin/sh
# The README's first steps, as somebody new takes them: a fresh clone of what is committed here is
# installed and asked. Says how long it took, and fails where that is more than so many seconds
# (3 min 30 s on two cores) or the program is larger than 110 MB. Crates that were fetched before are
# not fetched again.
set -eu
cd "$(dirname "$0")/.."
limit_s=${FIRST_STEPS_LIMIT_S:-210}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/iolab-first-steps.XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() { echo "first steps: $1" >&2; exit 1; }

git clone --quiet . "$work/iolab"
cd "$work/iolab"
begin=$(date +%s)
CARGO_TARGET_DIR="$work/target" ${CARGO:-cargo} install --quiet --locked --path crates/iolab --root "$work"
built=$(date +%s)
XDG_STATE_HOME="$work/state" "$work/bin/iolab" quick
end=$(date +%s)

bytes=$(stat -c %s "$work/bin/iolab")
[ "$bytes" -lt 110000000 ] || fail "the program has $bytes bytes"
echo "first steps: installed in $((built - begin)) s, answered in $((end - built)) s more; $bytes bytes"
[ $((end - begin)) -le "$limit_s" ] || fail "more than $limit_s s"
