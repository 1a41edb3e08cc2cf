#!/usr/bin/env bash
# Checks that the Makefile's tools exist, installs the ones it may, and reports missing ones.
# usage: tools/need.sh python|rust|node|npm|valgrind|chromium|firefox|mutants|deny ...
set -euo pipefail

step() {
    local label=$1
    shift
    "$(dirname "$0")/step.sh" "set-up: $label" "$@"
}

fail() {
    echo "missing: $1" >&2
    exit 1
}

# Prints the path of an interpreter of version 3.11 or newer.
python() {
    local p
    for p in python3.11 python3 python3.12 python3.13 python3.14; do
        if "$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            "$p" -c 'import sys; print(sys.executable)'
            return
        fi
    done
    fail "Python 3.11 or newer (Debian: apt-get install python3 python3-venv)"
}

rust() {
    type -P cargo >/dev/null || fail "Rust (cargo); see rustup's own pages"
    rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null | xargs -r test -d && return
    type -P rustup >/dev/null || fail "Rust's target wasm32-unknown-unknown, and rustup to add it"
    step "Rust for WebAssembly" rustup target add wasm32-unknown-unknown || fail "Rust's target wasm32-unknown-unknown (rustup could not add it)"
}

node() {
    type -P node >/dev/null || fail "Node.js 18 or newer (it runs the WebAssembly tests)"
}

# npm builds the lab page.
npm() {
    node
    command node -e 'process.exit(process.versions.node.split(".")[0] < 20 ? 1 : 0)' || fail "Node.js 20 or newer (it builds the lab page)"
    type -P npm >/dev/null || fail "npm (Debian: apt-get install npm)"
}

# Installs a package of Debian, where that is possible.
debian() {
    [ "$(id -u)" = 0 ] && type -P apt-get >/dev/null || return 1
    step "package lists" apt-get update && step "$1" apt-get install -y "$1"
}

# Print the path of a browser for the tests of the lab page.
chromium() {
    local name
    for name in chromium chromium-browser google-chrome; do
        type -P "$name" && return
    done
    debian chromium && type -P chromium && return
    fail "Chromium, in which the lab page is tested (Debian: apt-get install chromium, as root)"
}

firefox() {
    local name
    for name in firefox firefox-esr; do
        type -P "$name" && return
    done
    debian firefox-esr && type -P firefox-esr && return
    fail "Firefox, in which the lab page is tested (Debian: apt-get install firefox-esr, as root)"
}

valgrind() {
    type -P valgrind >/dev/null && return
    debian valgrind || fail "valgrind, which counts instructions (Debian: apt-get install valgrind, as root)"
}

# A program of crates.io, kept in the build folder.
cargo_tool() {
    [ -x "target/tools/bin/$1" ] && return
    step "$1" cargo install "$1" --version "$2" --locked --debug --root target/tools || fail "$1 (cargo install $1)"
}

mutants() { cargo_tool cargo-mutants 27.1.0; }

deny() { cargo_tool cargo-deny 0.20.2; }

for tool in "$@"; do
    "$tool"
done
