#!/usr/bin/env bash
# Makes sure that what the Makefile needs is there, installs what it may, and says plainly what is missing.
# usage: tools/need.sh python|rust|node|valgrind ...
set -euo pipefail

fail() {
    echo "missing: $1" >&2
    exit 1
}

# An interpreter of at least 3.11, by its path.
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
    command -v cargo >/dev/null || fail "Rust (cargo); see rustup's own pages"
    rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null | xargs -r test -d && return
    command -v rustup >/dev/null || fail "Rust's target wasm32-unknown-unknown, and rustup to add it"
    rustup target add wasm32-unknown-unknown >&2 || fail "Rust's target wasm32-unknown-unknown (rustup could not add it)"
}

node() {
    command -v node >/dev/null || fail "Node.js 18 or newer (it runs the WebAssembly tests)"
}

valgrind() {
    command -v valgrind >/dev/null && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get -qq update >&2 && apt-get -qq install -y valgrind >&2 && return
    fi
    fail "valgrind, which counts instructions (Debian: apt-get install valgrind, as root)"
}

for tool in "$@"; do
    "$tool"
done
