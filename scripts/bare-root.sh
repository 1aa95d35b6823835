#!/bin/sh
# Runs a packed iolab where nothing else is: sh scripts/bare-root.sh BINARY PACKAGE.deb
# First the binary alone in an empty root directory, then what the package unpacks to. Only a /proc
# and a /tmp are mounted there, in a mount namespace that ends with this script. A binary that is not
# static brings the libraries that it names.
set -eu
binary=$(realpath "$1")
package=$(realpath "$2")
skip() { echo "SKIP bare root: $1" >&2; exit 0; }
command -v unshare >/dev/null 2>&1 || skip "unshare is missing (Debian: apt-get install util-linux)"
if [ -z "${IOLAB_BARE_ROOT:-}" ]; then
    # Without root a user namespace lends one, where the machine allows that.
    [ "$(id -u)" = 0 ] && as= || as=--map-root-user
    unshare --mount $as true 2>/dev/null || skip "no mount namespace can be had: run it as root"
    export IOLAB_BARE_ROOT=1
    # shellcheck disable=SC2086 # an option or none
    exec unshare --mount $as sh "$0" "$binary" "$package"
fi

work=$(mktemp -d)
trap 'umount -l "$work"/*/proc "$work"/*/tmp 2>/dev/null || true; rm -rf "$work"' EXIT
libraries() {
    for library in $(ldd "$binary" 2>/dev/null | grep -o '/[^ ]*'); do
        mkdir -p "$1$(dirname "$library")" && cp -L "$library" "$1$library"
    done
}
fail() { echo "bare root: $1" >&2; exit 1; }

tried() {
    root=$1
    libraries "$root"
    mkdir -p "$root/proc" "$root/tmp" "$root/data"
    said=$(chroot "$root" /usr/bin/iolab --version)
    case $said in "iolab "[0-9]*) ;; *) fail "--version says: $said" ;; esac
    # Without /proc nothing is measured, and that is said with the remedy.
    said=$(chroot "$root" /usr/bin/iolab read --file-size 1Mi --budget 1s 2>&1 || true)
    case $said in *"mount -t proc"*) ;; *) fail "without /proc it says: $said" ;; esac
    mount -t proc proc "$root/proc"
    mount -t tmpfs tmpfs "$root/tmp"
    (cd "$root/data" && chroot "$root" /usr/bin/iolab make file 1Mi /data/file >/dev/null)
    chroot "$root" /usr/bin/iolab checksum /data/file >/dev/null || fail "checksum"
    chroot "$root" /usr/bin/iolab read /data/file --method pread,mmap --block 64Ki --rounds 8 \
        --export json=/data/run.json >"$work/report" || fail "read ended with $?"
    grep -q '1 MiB' "$work/report" || fail "this is no report: $(cat "$work/report")"
    [ -s "$root/data/run.json" ] || fail "nothing was exported"
}

install -D -m 755 "$binary" "$work/alone/usr/bin/iolab"
tried "$work/alone"
mkdir "$work/package"
dpkg-deb -x "$package" "$work/package"
tried "$work/package"
echo "bare root: $(basename "$package") and its binary alone run where nothing else is"
