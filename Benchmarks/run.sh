#!/usr/bin/env bash
# Measures Settle against a floor or a peer in the same run, and prints ratios of medians.
#
#   Benchmarks/run.sh                 all of it, a few minutes
#   RUNS=9 Benchmarks/run.sh store    one of: store, clocks, journal, conflicts, json, tree, views, find, import, million, server,
#                                     replication
#   THREAD_TIME=1 Benchmarks/run.sh store
#                                     the processor time of the calling thread instead of the time that passes: for a
#                                     machine that others keep busy; also for clocks, journal and conflicts
#   SIZES=100000,1000000,10000000 Benchmarks/run.sh growth
#                                     how the cost of a request grows with the database; not a part of all
#   SIZES=1000,10000,100000 Benchmarks/run.sh databases
#                                     how it grows with the number of databases; not a part of all
#   COUCHDB=FOLDER Benchmarks/run.sh beside
#                                     the same load on a CouchDB, in turns; not a part of all. docs/PERFORMANCE.md says how to build one
#   NUMBER=10000 Benchmarks/run.sh replications
#                                     how continuous replications take turns; not a part of all
#   DEVICES=1000 Benchmarks/run.sh devices --seconds 120
#                                     many devices that sync; not a part of all; .build/release/DeviceBenchmark --help
set -euo pipefail
if [[ ${1:-} == beside ]]; then COUCHDB=$(realpath "${COUCHDB:?names the folder of a release of CouchDB}"); fi
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
wait_for() { for _ in {1..100}; do if curl -s -o /dev/null "$1"; then return; fi; sleep 0.1; done; return 1; }
# What is to be ended and removed, however this ends.
running=()
rooms=()
clean_up() {
    for process in ${running[@]+"${running[@]}"}; do kill "$process" 2>/dev/null || true; done
    rm -rf ${rooms[@]+"${rooms[@]}"}
}
trap clean_up EXIT
# Builds the tool and sets what serving takes.
prepare_serving() {
    (cd .. && swift build -c release --product settle)
    settle=$(cd .. && swift build -c release --show-bin-path)/settle
    data=$(mktemp -d)
    rooms+=("$data")
    password=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
    port=${PORT:-18984}
}
# Starts a server on that folder.
serve() {
    SETTLE_ADMIN_PASSWORD=$password "$settle" serve --quiet --data "$data" --port "$port" --admin admin &
    server=$!
    running=("$server")
    wait_for "http://127.0.0.1:$port/"
}
# Installs what makes requests on many connections.
install_wrk() {
    if ! command -v wrk >/dev/null && command -v apt-get >/dev/null; then
        echo "installing the Debian package wrk, which makes requests on many connections"
        as_root=()
        [[ $(id -u) == 0 ]] || as_root=(sudo)
        ${as_root[@]+"${as_root[@]}"} apt-get install -y -q wrk </dev/null
    fi
}
wants() { [[ $what == all || $what == "$1" ]]; }

if wants tree; then "$bin/TreeBenchmark" "$runs"; fi
if wants json; then "$bin/JSONBenchmark" "$runs"; fi
if wants store; then "$bin/StoreBenchmark" 100000 "$runs"; fi
if wants journal; then "$bin/StoreBenchmark" journal 20000 "$runs"; fi
if wants clocks; then "$bin/StoreBenchmark" clocks 20000 "$runs"; fi
if wants conflicts; then "$bin/ConflictBenchmark" 10000 "$runs"; fi
if wants views; then "$bin/ViewBenchmark" 50000 "$runs"; fi
if wants find; then "$bin/FindBenchmark" 50000 "$runs"; fi
if wants import; then
    # Files and dumps of other products beside plain lines of the same documents.
    (cd .. && swift build -c release --product settle)
    settle=$(cd .. && swift build -c release --show-bin-path)/settle
    python3 import/rates.py --settle "$settle" --documents "${DOCUMENTS:-20000}" --runs "$runs"
fi
if wants million; then
    # The tool imports a million documents from a pipe; what counts is that its memory stays flat.
    (cd .. && swift build -c release --product settle)
    settle=$(cd .. && swift build -c release --show-bin-path)/settle
    room=$(mktemp -d)
    rooms+=("$room")
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
if wants server; then
    # A client and a server on one machine: what counts is the ratio to the floor, and what else the machine had to do.
    install_wrk
    prepare_serving
    ulimit -n "$(ulimit -Hn)"

    "$bin/HTTPFloor" $((port + 1)) &
    floor=$!
    running=("$floor")
    wait_for "http://127.0.0.1:$((port + 1))/"
    for connections in 1 16; do
        for ((run = 0; run < runs; run++)); do
            wrk -t1 "-c$connections" -d2s "http://127.0.0.1:$((port + 1))/" | awk '/Requests\/sec/ { print $2 }'
        done | sort -n | awk -v c="$connections" '{ r[NR] = $1 }
            END { printf "floor of a GET, %d connection(s): %d/s\n", c, r[int((NR + 1) / 2)] }'
    done
    kill "$floor"

    # Each measure has a server of its own, for the peak of memory is that of a process.
    for measure in load views find idle_feeds busy_feeds attachment; do
        serve
        extra=()
        [[ $measure != load && $measure != views && $measure != find ]] || extra=(--runs "$runs")
        python3 "server/$measure.py" --url "http://127.0.0.1:$port" --user admin --password "$password" \
            --pid "$server" ${extra[@]+"${extra[@]}"}
        kill "$server"
        wait "$server"
        running=()
    done
fi
if wants replication; then
    # With a server of ours, or the one whose address, user and password included, SETTLE_PEER_URL tells.
    if [[ -z ${SETTLE_PEER_URL:-} ]]; then
        prepare_serving
        serve
        SETTLE_PEER_URL=http://admin:$password@127.0.0.1:$port
    fi
    "$bin/ReplicationBenchmark" "$SETTLE_PEER_URL" "${DOCUMENTS:-50000}" "$runs"
    if [[ -n ${server:-} && -e /proc/$server/status ]]; then
        echo "peak memory of the server: $(awk '/VmHWM/ { print int($2 / 1024) }' "/proc/$server/status") MiB"
    fi
fi
if [[ $what == beside ]]; then
    install_wrk
    prepare_serving
    python3 server/beside.py --settle "$settle" --couchdb "$COUCHDB" --runs "$runs" "${@:2}"
fi
if [[ $what == growth ]]; then
    prepare_serving
    python3 server/growth.py --settle "$settle" --folder "$data" --sizes "${SIZES:-100000,1000000}"
fi
if [[ $what == replications ]]; then
    prepare_serving
    python3 server/replications.py --settle "$settle" --folder "$data" --number "${NUMBER:-1000}"
fi

if [[ $what == databases ]]; then
    prepare_serving
    python3 server/databases.py --settle "$settle" --folder "$data" --sizes "${SIZES:-1000,10000}"
fi
if [[ $what == devices ]]; then
    # With a server of ours, or the one at SETTLE_PEER_URL, user and password included, whose process is SETTLE_PEER_PID.
    devices=${DEVICES:-10000}
    ulimit -n "$(ulimit -Hn)"
    if [[ -z ${SETTLE_PEER_URL:-} ]]; then
        prepare_serving
        export SETTLE_CONNECTIONS=$((devices + 300))
        serve
        SETTLE_PEER_URL=http://admin:$password@127.0.0.1:$port
        SETTLE_PEER_PID=$server
    fi
    "$bin/DeviceBenchmark" --url "$SETTLE_PEER_URL" ${SETTLE_PEER_PID:+--pid "$SETTLE_PEER_PID"} \
        --devices "$devices" "${@:2}"
fi
