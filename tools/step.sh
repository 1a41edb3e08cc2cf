#!/usr/bin/env bash
# Runs a command of the set-up: says in lines of its own what it does and how much time is left, and keeps the command's output in a file.
# A step that ends within two seconds says nothing. If the command fails, the end of its output follows.
# usage: tools/step.sh LABEL SECONDS COMMAND [ARGUMENT ...]
#   SECONDS is how long it takes where it has not run before. After that, its last duration is used.
# STEP_EVERY: seconds between two lines. Default: 15.
set -euo pipefail

label=$1 usual=$2
shift 2
folder="$(dirname "$0")/../target/steps"
mkdir -p "$folder"
slug=$(tr -cs 'a-zA-Z0-9\n' '-' <<<"$label")
log="$folder/$slug.log"
[ ! -s "$folder/$slug.seconds" ] || read -r usual <"$folder/$slug.seconds"

say() {
    echo "$label$1" >&2
}

left() {
    if [ "$SECONDS" -lt "$usual" ]; then
        echo "about $((usual - SECONDS)) s left"
    else
        echo "longer than usual"
    fi
}

"$@" >"$log" 2>&1 </dev/null &
child=$!
trap 'kill "$child" 2>/dev/null; exit 130' INT TERM
next=2
while kill -0 "$child" 2>/dev/null; do
    if [ "$SECONDS" -ge "$next" ]; then
        say ": after $SECONDS s, $(left)"
        next=$((SECONDS + ${STEP_EVERY:-15}))
    fi
    sleep 0.2
done
code=0
wait "$child" || code=$?
if [ "$code" != 0 ]; then
    tail -n 40 "$log" >&2
    say ": failed after $SECONDS s; all of its output is in target/steps/$slug.log"
    exit "$code"
fi
if [ "$SECONDS" -ge 2 ]; then
    say ": done after $SECONDS s"
    echo "$SECONDS" >"$folder/$slug.seconds"
fi
