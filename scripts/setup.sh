#!/bin/sh
# Gets what the tests use and this machine lacks. Says what it will install before it does, asks at a
# terminal, and ends with 1 where something is still missing. `--check` only says what is missing.
set -eu

# command:package — what uses it stands beside it
needed="
cc:gcc
c++:g++
cmake:cmake
git:git
setpriv:util-linux
unshare:util-linux
losetup:mount
script:bsdutils
cpio:cpio
mkfs.ext4:e2fsprogs
mkfs.xfs:xfsprogs
mkfs.btrfs:btrfs-progs
mksquashfs:squashfs-tools
mkfs.erofs:erofs-utils
fuse-overlayfs:fuse-overlayfs
fio:fio
ssh:openssh-client
/usr/sbin/sshd:openssh-server
ip:iproute2
strace:strace
mpicc.openmpi:libopenmpi-dev
mpirun.openmpi:openmpi-bin
mpicc.mpich:libmpich-dev
mpirun.mpich:mpich
/usr/sbin/slurmctld:slurm-wlm
/usr/share/doc/libclang-dev:libclang-dev
asciidoctor:asciidoctor
/usr/include/benchmark/benchmark.h:libbenchmark-dev
/usr/share/benchmark/compare.py:libbenchmark-tools
/usr/lib/python3/dist-packages/scipy:python3-scipy
/usr/lib/python3/dist-packages/yaml:python3-yaml
"

missing() {
    for row in $needed; do
        # A path is a file that must be there, a word a command.
        command -v "${row%%:*}" >/dev/null 2>&1 || [ -e "${row%%:*}" ] || echo "${row##*:}"
    done | sort -u | tr '\n' ' '
}

refuse() { echo "setup: $1" >&2; exit 1; }

command -v cargo >/dev/null 2>&1 ||
    refuse "cargo is missing: install Rust 1.95 or newer (https://rustup.rs), then run again"
packages=$(missing)
[ -n "$packages" ] || { echo "setup: everything the tests use is here"; exit 0; }
install="apt-get install -y --no-install-recommends $packages"
[ "${1:-}" != --check ] || refuse "missing: $packages"
command -v apt-get >/dev/null 2>&1 ||
    refuse "tests that need them will skip; Debian calls the packages: $packages"
[ "$(id -u)" = 0 ] || refuse "tests that need them will skip; to install them: sudo $install"

echo "setup: this will run: $install"
if [ -t 0 ]; then
    printf 'setup: go on? [y/N] '
    read -r answer
    case "$answer" in [yY]*) ;; *) refuse "nothing was installed" ;; esac
fi
apt-get update -qq || refuse "no package index could be fetched"
# shellcheck disable=SC2086 # a list of packages
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages ||
    refuse "apt-get failed"
packages=$(missing)
[ -z "$packages" ] || refuse "still missing: $packages"
