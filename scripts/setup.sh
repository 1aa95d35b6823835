#!/bin/sh
# Installs what the tests need. On Debian as root it installs; elsewhere it names what is missing.
set -eu

# command:package — what uses it stands beside it
needed="
cc:gcc
setpriv:util-linux
mkfs.ext4:e2fsprogs
losetup:mount
mkfs.xfs:xfsprogs
mkfs.btrfs:btrfs-progs
mksquashfs:squashfs-tools
mkfs.erofs:erofs-utils
cmake:cmake
c++:g++
/usr/include/benchmark/benchmark.h:libbenchmark-dev
/usr/share/benchmark/compare.py:libbenchmark-tools
/usr/lib/python3/dist-packages/scipy:python3-scipy
/usr/lib/python3/dist-packages/yaml:python3-yaml
fio:fio
"

missing=""
for row in $needed; do
    # A path is a file that must be there, a word a command.
    command -v "${row%%:*}" >/dev/null 2>&1 || [ -e "${row%%:*}" ] || missing="$missing ${row##*:}"
done

if ! command -v cargo >/dev/null 2>&1; then
    echo "setup: cargo is missing: install Rust 1.95 or newer (https://rustup.rs), then run again" >&2
    exit 1
fi
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "setup: installing$missing"
    apt-get update -qq
    # shellcheck disable=SC2086 # a list of packages
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
else
    echo "setup: not installed, tests that need it will skip:$missing" >&2
fi
