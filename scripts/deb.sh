#!/bin/sh
# Packs an iolab that is built already: sh scripts/deb.sh BINARY DIRECTORY prints the path of the .deb.
# The manual, the completions and the version are asked of the binary itself. DEB_FLAGS: more options
# of dpkg-deb (-Znone for a test that has no time to compress). DEB_MAINTAINER: who answers for the
# package, as "Name <address>"; whoever publishes one sets it.
set -eu
binary=$1
directory=$2
cd "$(dirname "$0")/.."
refuse() { echo "deb: $1" >&2; exit 1; }
command -v dpkg-deb >/dev/null 2>&1 || refuse "dpkg-deb is missing (Debian: apt-get install dpkg)"

version=$("$binary" --version | cut -d ' ' -f 2)
arch=$(dpkg --print-architecture)
# A static program needs nothing; any other needs at least the C library that it was linked with.
if ldd "$binary" >/dev/null 2>&1 && ldd "$binary" | grep -q 'libc\.so'; then
    depends="libc6 (>= $(ldd --version | sed -n '1s/.* //p')), libgcc-s1"
else
    depends=
fi

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
install -D -m 755 "$binary" "$root/usr/bin/iolab"
"$binary" man --output "$root/usr/share/man/man1"
gzip -9n "$root"/usr/share/man/man1/*.1
completions() { mkdir -p "$root/usr/share/$(dirname "$2")" && "$binary" completions "$1" >"$root/usr/share/$2"; }
completions bash bash-completion/completions/iolab
completions zsh zsh/vendor-completions/_iolab
completions fish fish/vendor_completions.d/iolab.fish
doc=$root/usr/share/doc/iolab
install -D -m 644 README.md "$doc/README.md"
gzip -9nc CHANGELOG.md >"$doc/changelog.gz"
{ echo "iolab is licensed under MIT or Apache-2.0, as you like."; echo; cat LICENSE-MIT LICENSE-APACHE; } >"$doc/copyright"
chmod -R u=rwX,go=rX "$root"

mkdir "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<EOF
Package: iolab
Version: $version
Architecture: $arch
Maintainer: ${DEB_MAINTAINER:-the iolab authors <iolab@localhost>}
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
${depends:+Depends: $depends
}Recommends: e2fsprogs
Suggests: xfsprogs, btrfs-progs, qemu-system-x86
Section: utils
Priority: optional
Description: laboratory for file I/O: which way is faster here, with proof
 Compares ways of reading, writing and copying files, threads, file systems
 and metadata calls in interleaved rounds from caches whose state is proven,
 and answers with what to take and what that can cost at most.
EOF
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
mkdir -p "$directory"
package=$directory/iolab_${version}_$arch.deb
# shellcheck disable=SC2086 # options or none
dpkg-deb ${DEB_FLAGS:-} --root-owner-group --build "$root" "$package" >/dev/null
echo "$package"
