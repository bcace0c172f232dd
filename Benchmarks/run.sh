#!/usr/bin/env bash
# Measures Settle against a floor or a peer in the same run, and prints ratios of medians.
set -euo pipefail

usage() {
    cat <<'END'
Usage: Benchmarks/run.sh [WORD [OPTIONS]]

Without a word, or with `all`, it measures all of these, in a few minutes. Each takes RUNS, how often it is measured (5):
  tree         trees of revisions, in memory
  json         reading JSON, beside simdjson and Foundation
  store        inserts, gets, scans and updates, beside SQLite alone
  journal      saves with and without a journal
  clocks       saves with and without attribute clocks
  conflicts    settling conflicts, beside SQLite alone
  views        views and text search in the process
  find         queries in the process
  import       files and dumps of other products; DOCUMENTS (20000)
  million      the memory of an import of a million documents; measured once
  server       requests, views, queries, feeds and a large attachment over HTTP, beside a server that only answers
  replication  push and pull; DOCUMENTS (50000), SETTLE_PEER_URL for another server than one of its own

And these, each only by its word:
  growth       requests to larger and larger databases; SIZES (100000,1000000)
  databases    requests beside more and more databases; SIZES (1000,10000)
  beside       the same load on a CouchDB, in turns; COUCHDB (the folder of a release), RUNS, OPTIONS of server/beside.py
  replications how continuous replications take turns; NUMBER (1000)
  devices      many devices that sync; DEVICES (10000), SETTLE_PEER_URL and SETTLE_PEER_PID for another server,
               OPTIONS of .build/release/DeviceBenchmark, such as --seconds 120

What is in capitals is a variable, as in `RUNS=9 Benchmarks/run.sh store`. An address in SETTLE_PEER_URL includes user and
password. With THREAD_TIME=1, store, clocks, journal and conflicts take the processor time of the calling thread instead of
the time that passes: for a machine that others keep busy. docs/PERFORMANCE.md has results, and how to build a CouchDB.
END
}
# For what was asked wrongly, and for what went wrong.
refuse() { echo "run.sh: $*" >&2; exit 2; }
fail() { echo "run.sh: $*" >&2; exit 1; }

all=(tree json store journal clocks conflicts views find import million server replication)
what=${1:-all}
case $what in
    -h | --help | help) usage; exit ;;
    growth | databases | beside | replications | devices) measures=("$what") ;;
    all) measures=("${all[@]}") ;;
    *)
        [[ " ${all[*]} " == *" $what "* ]] || { usage >&2; refuse "there is no measure '$what'"; }
        measures=("$what") ;;
esac
[[ $# -le 1 || $what == beside || $what == devices ]] || refuse "$what takes no options"
runs=${RUNS:-5}
for number in runs DOCUMENTS NUMBER DEVICES; do
    [[ ${!number:-1} =~ ^[1-9][0-9]*$ ]] || refuse "'${!number}' is not a number from 1: ${number/runs/RUNS}"
done
if [[ $what == beside ]]; then
    [[ -x ${COUCHDB:-}/bin/couchdb ]] || refuse "COUCHDB must be the folder of a release; there is no '${COUCHDB:-}/bin/couchdb'"
    COUCHDB=$(cd "$COUCHDB" && pwd)
fi
cd "$(dirname "$0")"

# What is to be ended and removed, however this ends.
running=()
rooms=()
clean_up() {
    for group in ${running[@]+"${running[@]}"}; do kill -- "-$group" 2>/dev/null || true; done
    wait
    rm -rf ${rooms[@]+"${rooms[@]}"}
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
# Starts a command in a group of processes of its own, so that what the command starts ends with it.
start() {
    set -m
    "$@" &
    set +m
    running[$!]=$!
}
# Waits for the command of a group, ends what that has left, and forgets the group: its number may become that of another.
finish() {
    local status=0
    wait "$1" || status=$?
    kill -- "-$1" 2>/dev/null || true
    unset "running[$1]"
    return "$status"
}
# Waits for a command meanwhile: a signal ends a wait at once, but not a command in the foreground.
run() {
    start "$@"
    finish "$!"
}
stop() {
    kill -- "-$1"
    finish "$1" || true
}

install() {
    command -v apt-get >/dev/null || return 0
    echo "installing the Debian package $1, $2"
    as_root=()
    [[ $(id -u) == 0 ]] || as_root=(sudo)
    ${as_root[@]+"${as_root[@]}"} apt-get update -q </dev/null
    ${as_root[@]+"${as_root[@]}"} apt-get install -y -q "$1" </dev/null
}
need_wrk() { command -v wrk >/dev/null || install wrk "which makes requests on many connections"; }
# Builds the programs of this folder, once, and sets where they are.
need_programs() {
    [[ -z ${bin:-} ]] || return 0
    [[ -e /usr/include/simdjson.h ]] || install libsimdjson-dev "to compare with"
    run swift build -c release
    bin=$(swift build -c release --show-bin-path)
}
# Builds the tool, once, and sets where it is.
need_tool() {
    [[ -z ${settle:-} ]] || return 0
    run swift build -c release --package-path .. --product settle
    settle=$(swift build -c release --package-path .. --show-bin-path)/settle
}
make_room() {
    room=$(mktemp -d)
    rooms+=("$room")
}
# Starts a server on a new folder, and sets its process and its address.
serve() {
    need_tool
    make_room
    password=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
    SETTLE_ADMIN_PASSWORD=$password start "$settle" serve --quiet --json --data "$room" --port 0 --admin admin >"$room/announced"
    server=$!
    # It chooses the port itself, so that no other server is measured.
    until port=$(sed -n 's/.*"port":\([0-9]*\).*/\1/p' "$room/announced") && [[ -n $port ]]; do
        kill -0 "$server" 2>/dev/null || fail "the server has ended, and said why above"
        sleep 0.1
    done
    address=http://admin:$password@127.0.0.1:$port
}

measure_tree() { need_programs; run "$bin/TreeBenchmark" "$runs"; }
measure_json() { need_programs; run "$bin/JSONBenchmark" "$runs"; }
measure_store() { need_programs; run "$bin/StoreBenchmark" 100000 "$runs"; }
measure_journal() { need_programs; run "$bin/StoreBenchmark" journal 20000 "$runs"; }
measure_clocks() { need_programs; run "$bin/StoreBenchmark" clocks 20000 "$runs"; }
measure_conflicts() { need_programs; run "$bin/ConflictBenchmark" 10000 "$runs"; }
measure_views() { need_programs; run "$bin/ViewBenchmark" 50000 "$runs"; }
measure_find() { need_programs; run "$bin/FindBenchmark" 50000 "$runs"; }
measure_import() { need_tool; run import/rates.py --settle "$settle" --documents "${DOCUMENTS:-20000}" --runs "$runs"; }
measure_million() {
    # The tool imports a million documents from a pipe; what counts is that its memory stays flat.
    need_programs
    need_tool
    make_room
    echo "importing 1,000,000 documents of about 500 bytes"
    mkfifo "$room/lines"
    # These open the pipe where they run, for that waits for the other end.
    write_lines() { exec "$bin/StoreBenchmark" documents 1000000 >"$room/lines"; }
    read_lines() { exec "$settle" import "$room/million.settle" - --quiet <"$room/lines"; }
    start write_lines
    writer=$!
    SECONDS=0
    start read_lines
    importer=$!
    peak=0
    while line=$(grep VmHWM "/proc/$importer/status" 2>/dev/null); do
        peak=${line//[!0-9]/}
        echo "$SECONDS s: peak memory $((peak / 1024)) MiB"
        sleep 3
    done
    finish "$importer"
    finish "$writer"
    echo "done in $SECONDS s, peak memory $((peak / 1024)) MiB (goal: under 150 MiB, flat)"
    run "$settle" info "$room/million.settle"
}
# Prints the median of the requests a second to what answers at a port.
floor_of_get() {
    for ((turn = 0; turn < runs; turn++)); do
        wrk -t1 "-c$2" -d2s "http://127.0.0.1:$1/" | awk '/Requests\/sec/ { print $2 }'
    done | sort -n | awk -v c="$2" '{ r[NR] = $1 }
        END { printf "floor of a GET, %d connection(s): %d/s\n", c, r[int((NR + 1) / 2)] }'
}
measure_server() {
    # A client and a server on one machine: what counts is the ratio to the floor, and what else the machine had to do.
    need_wrk
    need_programs
    need_tool
    port=$(python3 -c 'import sys; sys.path.append("server"); from processes import free_port; print(free_port())')
    start "$bin/HTTPFloor" "$port"
    floor=$!
    until (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        kill -0 "$floor" 2>/dev/null || fail "the floor has ended"
        sleep 0.1
    done
    for connections in 1 16; do run floor_of_get "$port" "$connections"; done
    stop "$floor"
    # Each measure has a server of its own, for the peak of memory is that of a process.
    for measure in load views find; do run "server/$measure.py" --settle "$settle" --runs "$runs"; done
    for measure in idle_feeds busy_feeds attachment; do run "server/$measure.py" --settle "$settle"; done
}
measure_replication() {
    need_programs
    if [[ -n ${SETTLE_PEER_URL:-} ]]; then
        run "$bin/ReplicationBenchmark" "$SETTLE_PEER_URL" "${DOCUMENTS:-50000}" "$runs"
        return
    fi
    serve
    run "$bin/ReplicationBenchmark" "$address" "${DOCUMENTS:-50000}" "$runs"
    echo "peak memory of the server: $(awk '/VmHWM/ { print int($2 / 1024) }' "/proc/$server/status") MiB"
    stop "$server"
}
measure_beside() {
    need_wrk
    need_tool
    run server/beside.py --settle "$settle" --couchdb "$COUCHDB" --runs "$runs" "$@"
}
measure_growth() {
    need_tool
    make_room
    run server/growth.py --settle "$settle" --folder "$room" --sizes "${SIZES:-100000,1000000}"
}
measure_databases() {
    need_tool
    make_room
    run server/databases.py --settle "$settle" --folder "$room" --sizes "${SIZES:-1000,10000}"
}
measure_replications() {
    need_tool
    make_room
    run server/replications.py --settle "$settle" --folder "$room" --number "${NUMBER:-1000}"
}
measure_devices() {
    devices=${DEVICES:-10000}
    need_programs
    ulimit -n "$(ulimit -Hn)"
    if [[ -z ${SETTLE_PEER_URL:-} ]]; then
        export SETTLE_CONNECTIONS=$((devices + 300))
        serve
        SETTLE_PEER_URL=$address
        SETTLE_PEER_PID=$server
    fi
    run "$bin/DeviceBenchmark" --url "$SETTLE_PEER_URL" ${SETTLE_PEER_PID:+--pid "$SETTLE_PEER_PID"} --devices "$devices" "$@"
}

for measure in "${measures[@]}"; do "measure_$measure" "${@:2}"; done
