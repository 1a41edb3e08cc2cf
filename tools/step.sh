#!/usr/bin/env bash
# Runs a command of the set-up with its output in a file. Says what is done if it takes more than two seconds; if it fails, shows
# the end of the output.
# usage: tools/step.sh LABEL COMMAND [ARGUMENT ...]
set -euo pipefail
label=$1
shift
log="$(dirname "$0")/../target/steps/$(tr -cs 'a-zA-Z0-9\n' '-' <<<"$label").log"
mkdir -p "$(dirname "$log")"
(sleep 2; echo "$label" >&2) &
says=$!
code=0
"$@" >"$log" 2>&1 </dev/null || code=$?
kill "$says" 2>/dev/null || true
if [ "$code" != 0 ]; then
    tail -n 40 "$log" >&2
    echo "$label: failed after $SECONDS s; all of its output is in $log" >&2
elif [ "$SECONDS" -ge 2 ]; then
    echo "$label: done after $SECONDS s" >&2
fi
exit "$code"
