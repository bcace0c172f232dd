#!/usr/bin/env bash
# Runs all tests, with a PostgreSQL of their own if one is installed. If some fail, their failures are printed again at the end.
# Usage: Scripts/test.sh [ARGUMENTS of `swift test`]
# Without arguments it runs three test processes at the same time, because many tests wait for a time limit or for a process, and the
# others of that test process wait with them. SETTLE_TEST_POSTGRES=none leaves the tests with PostgreSQL out; a connection string is
# that of the database to use.
set -uo pipefail
cd "$(dirname "$0")/.."

# The test targets whose tests wait most, in two groups. The third process runs the tests of all other targets.
groups=('SettleServerTests|SettlePostgresTests' 'SettleCommandsTests|SettleReplicationTests')

# Tests that share a database that somebody gave would meet in it, so they run in one process.
count=3
postgres=(Scripts/postgres/cluster.py run)
if [[ ${SETTLE_TEST_POSTGRES:-} == none ]]; then
    unset SETTLE_TEST_POSTGRES
    postgres=()
elif [[ -n ${SETTLE_TEST_POSTGRES:-} ]]; then
    count=1
    postgres=()
elif ! missing=$(Scripts/postgres/cluster.py available 2>&1); then
    postgres=()
    printf 'Tests with PostgreSQL are skipped: %s\n' "$missing"
fi

logs=$(mktemp -d)
processes=()
end() {
    for process in ${processes[@]+"${processes[@]}"}; do kill -- "-$process" 2>/dev/null; done
    rm -rf "$logs"
}
trap end EXIT
trap 'exit 130' INT TERM HUP

# Starts a command in a process group of its own, so that a signal to this script ends what the command has started, too.
start() {
    local log=$logs/${#processes[@]}
    set -m
    (set -o pipefail; NO_COLOR=1 ${postgres[@]+"${postgres[@]}"} "$@" </dev/null 2>&1 | tee "$log") &
    set +m
    processes+=($!)
}

program=.build/debug/SettlePackageTests.xctest
if (($#)); then
    start Scripts/swift-debug.sh test "$@"
else
    Scripts/swift-debug.sh build --build-tests || exit
    # On macOS it is a folder.
    if ((count == 3)) && [[ -f $program ]]; then
        start "$program" --testing-library swift-testing --filter "^(${groups[0]})\."
        start "$program" --testing-library swift-testing --filter "^(${groups[1]})\."
        start "$program" --testing-library swift-testing --skip "^(${groups[0]}|${groups[1]})\."
    else
        start Scripts/swift-debug.sh test
    fi
fi

statuses=()
for process in "${processes[@]}"; do
    wait "$process"
    statuses+=($?)
done
processes=()

# A process that ends before its tests do has no line about their result.
result=0
for number in "${!statuses[@]}"; do
    status=${statuses[number]} log=$logs/$number
    if ((status == 0)) && ! grep -q 'Test run with .* passed' "$log"; then status=1; fi
    ((status != 0)) || continue
    result=$status
    printf '\n== What failed, with status %d\n' "$status"
    grep -E -A 12 '^(✘|[^ ]*: error:)|[Ff]atal error' "$log" | grep -vE '^(✔|◇|--$)' | head -n 120
    grep -q 'Test run with' "$log" || tail -n 20 "$log"
done
exit "$result"
