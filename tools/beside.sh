#!/usr/bin/env bash
# Runs a command, and a target of the Makefile in the time that the command leaves idle; prints the target's output afterwards.
# Fails if one of them fails. If the command does, the target is ended.
# usage: tools/beside.sh TARGET COMMAND [ARGUMENT ...]
#   MAKE names the program make. Default: make.
set -euo pipefail

target=$1
shift
mkdir -p target
log="target/beside-$target.log"
# A process group of its own, so that all that it started ends with it.
set -m
nice -n 19 "${MAKE:-make}" --no-print-directory "$target" >"$log" 2>&1 </dev/null &
beside=$!
set +m
trap 'kill -- "-$beside" 2>/dev/null || true' EXIT
"$@"
code=0
wait "$beside" || code=$?
trap - EXIT
cat "$log"
exit "$code"
