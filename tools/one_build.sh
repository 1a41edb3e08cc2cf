#!/usr/bin/env bash
# Fails if the Python extension and the tests use different features of a crate: Cargo would then build that crate,
# and everything that depends on it, twice. To fix this, enable the tests' features in crates/py/Cargo.toml too.
set -euo pipefail
cd "$(dirname "$0")/.."
tree() { cargo tree --locked --prefix none --format '{p} {f}' "$@" | sed 's/ (\*)$//' | sort -u; }
other=$(comm -23 <(tree -p ackclock-py -e normal,build) <(tree --workspace -e normal,build,dev))
[ -z "$other" ] || { printf 'built twice, since the tests have other features:\n%s\n' "$other" >&2; exit 1; }
