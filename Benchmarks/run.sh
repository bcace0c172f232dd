#!/usr/bin/env bash
# Measures Settle against a floor or a peer in the same run, and prints ratios of medians.
#
#   Benchmarks/run.sh                 all of it, a few minutes
#   RUNS=9 Benchmarks/run.sh store    one of: store, conflicts, json, tree, million
set -euo pipefail
cd "$(dirname "$0")"
runs=${RUNS:-5}
what=${1:-all}

# simdjson is a peer of the JSON benchmark and of nothing else.
if ! [[ -e /usr/include/simdjson.h ]] && command -v apt-get >/dev/null; then
    echo "installing the Debian package libsimdjson-dev, to compare with"
    as_root=()
    [[ $(id -u) == 0 ]] || as_root=(sudo)
    ${as_root[@]+"${as_root[@]}"} apt-get update -q </dev/null
    ${as_root[@]+"${as_root[@]}"} apt-get install -y -q libsimdjson-dev </dev/null
fi

swift build -c release
bin=$(swift build -c release --show-bin-path)
wants() { [[ $what == all || $what == "$1" ]]; }

if wants tree; then "$bin/TreeBenchmark" "$runs"; fi
if wants json; then "$bin/JSONBenchmark" "$runs"; fi
if wants store; then "$bin/StoreBenchmark" 100000 "$runs"; fi
if wants conflicts; then "$bin/ConflictBenchmark" 10000 "$runs"; fi
if wants million; then
    # The tool imports a million documents from a pipe; what counts is that its memory stays flat.
    (cd .. && swift build -c release --product settle)
    settle=$(cd .. && swift build -c release --show-bin-path)/settle
    room=$(mktemp -d)
    trap 'rm -rf "$room"' EXIT
    echo "importing 1,000,000 documents of about 500 bytes"
    mkfifo "$room/lines"
    "$bin/StoreBenchmark" documents 1000000 >"$room/lines" &
    SECONDS=0
    "$settle" import "$room/million.settle" - --quiet <"$room/lines" &
    importer=$!
    peak=0
    while line=$(grep VmHWM "/proc/$importer/status" 2>/dev/null); do
        peak=${line//[!0-9]/}
        echo "$SECONDS s: peak memory $((peak / 1024)) MiB"
        sleep 3
    done
    wait "$importer"
    echo "done in $SECONDS s, peak memory $((peak / 1024)) MiB (goal: under 150 MiB, flat)"
    "$settle" info "$room/million.settle"
fi
