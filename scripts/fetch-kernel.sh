#!/bin/sh
# Fetches and unpacks a kernel of the distribution (Debian and its children), for the virtual
# machine that runs file systems this kernel lacks. Nothing is installed; no root is needed.
set -eu

arch=$(dpkg --print-architecture 2>/dev/null || true)
if [ "$arch" != amd64 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "fetch-kernel: this needs Debian on amd64; elsewhere give iolab --kernel and --modules" >&2
    exit 1
fi

# linux-image-amd64 names the newest kernel by a dependency.
package=$(apt-cache depends linux-image-amd64 2>/dev/null |
    sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p' | head -n 1)
if [ -z "$package" ]; then
    echo "fetch-kernel: no package linux-image-amd64 is known; run apt-get update" >&2
    exit 1
fi

version=${package#linux-image-}
kernels=${XDG_CACHE_HOME:-$HOME/.cache}/iolab/kernels
if [ -f "$kernels/$version/boot/vmlinuz-$version" ]; then
    echo "fetch-kernel: $kernels/$version is there"
    exit 0
fi

mkdir -p "$kernels"
work=$(mktemp -d "$kernels/.fetch-XXXXXX")
trap 'rm -rf "$work"' EXIT
# apt-get drops to another user for downloads, who may not enter our directory: the warning is no error.
(cd "$work" && apt-get download -qq "$package")
dpkg-deb -x "$work"/linux-image-*.deb "$work/root"
# Most of a kernel is drivers that no such machine has.
find "$work/root/lib/modules" "$work/root/usr/lib/modules" -type d \
    \( -path '*/kernel/drivers/gpu' -o -path '*/kernel/drivers/net' -o -path '*/kernel/sound' \
       -o -path '*/kernel/drivers/media' \) -prune -exec rm -rf {} + 2>/dev/null || true
mv "$work/root" "$kernels/$version"
echo "fetch-kernel: $kernels/$version"
