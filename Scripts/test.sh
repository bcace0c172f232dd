#!/usr/bin/env bash
# Runs all tests. If some fail, their failures are printed again at the end.
set -uo pipefail
cd "$(dirname "$0")/.."

# The library starts every test at once unless it gets a limit. Then a test of a second takes as long as the whole run,
# and on a slow machine its time limit ends it.
: "${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:=$((4 * $(getconf _NPROCESSORS_ONLN)))}"
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH

log=$(mktemp)
trap 'rm -f "$log"' EXIT
"${SWIFT:-swift}" test "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}

if ((status != 0)); then
    printf '\n== What failed\n'
    grep -E -A 12 '^(✘|[^ ]*: error:)|[Ff]atal error' "$log" | grep -vE '^(✔|◇|--$)' | head -n 120
fi
exit "$status"
