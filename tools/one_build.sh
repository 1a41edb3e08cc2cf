#!/usr/bin/env bash
# Fails if the Python extension is built with other features of a crate than the tests: Cargo would then build that crate,
# and all that uses it, twice. The cure is to ask for the tests' features in crates/py/Cargo.toml, too.
set -euo pipefail
cd "$(dirname "$0")/.."
tree() { cargo tree --locked --prefix none --format '{p} {f}' "$@" | sed 's/ (\*)$//' | sort -u; }
other=$(comm -23 <(tree -p ackclock-py -e normal,build) <(tree --workspace -e normal,build,dev))
[ -z "$other" ] || { printf 'built twice, since the tests have other features:\n%s\n' "$other" >&2; exit 1; }
