#!/usr/bin/env bash
# Runs all tests, with a PostgreSQL of their own if one is installed. If some fail, their failures are printed again at the end.
# SETTLE_TEST_POSTGRES=none leaves those with PostgreSQL out.
set -uo pipefail
cd "$(dirname "$0")/.."

if [[ ${SETTLE_TEST_POSTGRES:-} == none ]]; then
    unset SETTLE_TEST_POSTGRES
elif [[ -z ${SETTLE_TEST_POSTGRES:-} ]]; then
    if reason=$(Scripts/postgres/cluster.py available 2>&1); then
        exec Scripts/postgres/cluster.py run Scripts/test.sh "$@"
    fi
    printf 'Tests with PostgreSQL are skipped: %s\n' "$reason"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
"${SWIFT:-swift}" test "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}

if ((status != 0)); then
    printf '\n== What failed\n'
    grep -E -A 12 '^(✘|[^ ]*: error:)|[Ff]atal error' "$log" | grep -vE '^(✔|◇|--$)' | head -n 120
fi
exit "$status"
