#!/bin/sh
# Builds what is given away twice, in two folders whose names differ in length, each from nothing, and
# compares the two byte for byte: who has the same sources and the same compiler gets the same binary.
# DIST_PROFILE=release takes half as long as what is packed (dist).
set -eu
cd "$(dirname "$0")/.."
root=$(pwd -P)
work=$(mktemp -d "${TMPDIR:-/var/tmp}/iolab-reproducible.XXXXXX")
trap 'rm -rf "$work"' EXIT
# What git knows, as it lies here now: changes that are not committed belong to it, later ones do not.
git -C "$root" ls-files -z | (cd "$root" && xargs -0 tar -cf "$work/sources.tar" --)
for folder in one another-and-longer; do
    mkdir -p "$work/$folder"
    tar -xf "$work/sources.tar" -C "$work/$folder"
    (cd "$work/$folder" && unset CARGO_TARGET_DIR && DIST_ONLY_BUILD="$work/$folder.bin" sh scripts/dist.sh)
    # Nothing of the first may help the second.
    rm -rf "$work/$folder"
done
(cd "$work" && sha256sum one.bin another-and-longer.bin)
cmp "$work/one.bin" "$work/another-and-longer.bin" || {
    echo "reproducible: the two binaries differ" >&2
    exit 1
}
! grep -qF "$work" "$work/one.bin" || {
    echo "reproducible: the binary holds the path that it was built in" >&2
    exit 1
}
echo "reproducible: $(stat -c %s "$work/one.bin") bytes, equal in two folders (${DIST_PROFILE:-dist})"
