#!/bin/sh
# Licences, sources, duplicates and known faults of the dependencies, by cargo-deny where it is
# installed. The tests hold the licences and the sources to deny.toml without it.
set -eu
cd "$(dirname "$0")/.."
command -v cargo-deny >/dev/null 2>&1 || {
    echo "SKIP cargo deny: not installed (cargo install cargo-deny); the tests hold licences and sources" >&2
    exit 0
}
cargo deny --locked check licenses bans sources
# The list of known faults comes over the network: without one this part is left out, aloud.
if cargo deny --locked fetch db >/dev/null 2>&1; then
    cargo deny --locked check advisories
else
    echo "SKIP cargo deny check advisories: the database of advisories cannot be fetched" >&2
fi
