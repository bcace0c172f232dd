#!/usr/bin/env bash
# Runs all tests, with a PostgreSQL of their own if one is installed. If some fail, their failures are printed again at the end.
# Usage: Scripts/test.sh [ARGUMENTS of `swift test`]
# Without arguments it runs three test processes at the same time, because many tests wait for a time limit or for a process, and the
# others of that test process wait with them. SETTLE_TEST_POSTGRES=none leaves the tests with PostgreSQL out.
set -uo pipefail
cd "$(dirname "$0")/.."

# The test targets whose tests wait most, in two groups. The third process runs the tests of all other targets.
groups=('SettleServerTests|SettlePostgresTests' 'SettleCommandsTests|SettleReplicationTests')

postgres=(Scripts/postgres/cluster.py run)
if [[ -n ${SETTLE_TEST_POSTGRES:-} ]]; then
    postgres=()
    [[ $SETTLE_TEST_POSTGRES != none ]] || unset SETTLE_TEST_POSTGRES
elif ! missing=$(Scripts/postgres/cluster.py available 2>&1); then
    postgres=()
    printf 'Tests with PostgreSQL are skipped: %s\n' "$missing"
fi

logs=$(mktemp -d)
processes=()

# Each command is a process group of its own, so that a signal to this script ends what the command has started, too.
set -m
end() {
    for process in ${processes[@]+"${processes[@]}"}; do kill -- "-$process" 2>/dev/null; done
    rm -rf "$logs"
}
trap end EXIT
trap 'exit 130' INT TERM HUP

start() {
    local log=$logs/${#processes[@]}
    (set -o pipefail; NO_COLOR=1 ${postgres[@]+"${postgres[@]}"} "$@" 2>&1 | tee "$log") &
    processes+=($!)
}

program=.build/debug/SettlePackageTests.xctest
if (($#)); then
    start Scripts/swift-debug.sh test "$@"
else
    Scripts/swift-debug.sh build --build-tests || exit
    if [[ -f $program ]]; then
        start "$program" --testing-library swift-testing --filter "^(${groups[0]})\."
        start "$program" --testing-library swift-testing --filter "^(${groups[1]})\."
        start "$program" --testing-library swift-testing --skip "^(${groups[0]}|${groups[1]})\."
    else
        start Scripts/swift-debug.sh test
    fi
fi

status=0
for process in "${processes[@]}"; do wait "$process" || status=$?; done
processes=()

if ((status != 0)); then
    printf '\n== What failed\n'
    grep -hE -A 12 '^(✘|[^ ]*: error:)|[Ff]atal error' "$logs"/* | grep -vE '^(✔|◇|--$)' | head -n 120
fi
exit "$status"
