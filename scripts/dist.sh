#!/bin/sh
# Builds what is given away: one stripped static binary and a .deb, in target/packages, and tries both
# in a bare root. With musl where its target and its C compiler are installed
#   rustup target add x86_64-unknown-linux-musl; apt-get install musl-tools
# and else with a static glibc; the last lines say which it was. Paths of the machine
# that builds it are mapped away; scripts/reproducible.sh builds it in two folders and compares.
set -eu
cd "$(dirname "$0")/.."
limit_bytes=12000000
# scripts/reproducible.sh may take one that builds sooner, and needs no packages.
profile=${DIST_PROFILE:-dist}
machine=$(uname -m)
target=$machine-unknown-linux-musl
# No code at addresses of its own choosing and no function twice: a tenth of the size.
flags="-C relocation-model=static"
if command -v musl-gcc >/dev/null 2>&1 &&
    [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
    kind="musl"
    export "CC_$(echo "$target" | tr - _)=musl-gcc"
    # The linker that comes with the compiler.
    flags="$flags -C linker=rust-lld -C link-arg=--icf=all"
else
    target=$machine-unknown-linux-gnu
    kind="static glibc: no musl here (rustup target add $machine-unknown-linux-musl; apt-get install musl-tools)"
    flags="$flags -C target-feature=+crt-static"
fi

# Paths stand in messages of panics, in Rust and in the C of SQLite.
here=$(pwd -P)
registry=${CARGO_HOME:-$HOME/.cargo}/registry
flags="$flags --remap-path-prefix=$here=iolab --remap-path-prefix=$registry=registry"
# Nothing unwinds through SQLite: no callback of ours is called from it.
export CFLAGS="${CFLAGS:-} -ffile-prefix-map=$here=iolab -ffile-prefix-map=$registry=registry -fno-asynchronous-unwind-tables"

# The history needs no search in texts and none of these of SQLite; Parquet would be a megabyte.
without="FTS3 FTS5 RTREE API_ARMOR COLUMN_METADATA DBSTAT_VTAB MEMORY_MANAGEMENT STAT4 LOAD_EXTENSION"
omitted="LOAD_EXTENSION DEPRECATED TRACE SHARED_CACHE DESERIALIZE GET_TABLE TCL_VARIABLE COMPLETE"
LIBSQLITE3_FLAGS=$(printf -- '-USQLITE_ENABLE_%s ' $without; printf -- '-DSQLITE_OMIT_%s ' $omitted)
export LIBSQLITE3_FLAGS
RUSTFLAGS="${RUSTFLAGS:-} $flags" \
    ${CARGO:-cargo} build --locked --profile "$profile" --target "$target" -p iolab \
    --no-default-features --features png
built="${CARGO_TARGET_DIR:-target}/$target/$([ "$profile" = dev ] && echo debug || echo "$profile")/iolab"
if [ -n "${DIST_ONLY_BUILD:-}" ]; then
    cp "$built" "$DIST_ONLY_BUILD"
    exit 0
fi
out=target/packages
rm -rf "$out"
mkdir -p "$out"
cp "$built" "$out/iolab"
package=$(sh scripts/deb.sh "$out/iolab" "$out")

fail() { echo "dist: $1" >&2; exit 1; }
! ldd "$out/iolab" 2>/dev/null | grep -q '=>' || fail "$out/iolab is not static"
readelf -S "$out/iolab" | grep -q ' \.symtab' && fail "$out/iolab is not stripped"
bytes=$(stat -c %s "$out/iolab")
[ "$bytes" -le "$limit_bytes" ] || fail "$out/iolab has $bytes bytes, and $limit_bytes are allowed"
sh scripts/bare-root.sh "$out/iolab" "$package"
echo "dist: $out/iolab, $bytes bytes, static ($kind)"
echo "dist: $package, $(stat -c %s "$package") bytes"
