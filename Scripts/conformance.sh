#!/usr/bin/env bash
# Replays recorded responses of a CouchDB against a server of this build, topic by topic: Scripts/conformance.sh
# [TOPIC …]
# SETTLE_CONFORMANCE names the corpus. With topics it fails when any of their steps fails. Without, it replays the
# topics that the server supports, and fails when fewer steps of one pass than Scripts/conformance-floors.txt
# requires. docs/COMPATIBILITY.md lists the differences behind the remaining steps.
# With SETTLE_TEST_ENGINE=postgres the databases are in the PostgreSQL of SETTLE_TEST_POSTGRES, as
# `Scripts/postgres/cluster.py run` sets it.
set -euo pipefail
cd "$(dirname "$0")/.."

corpus=${SETTLE_CONFORMANCE:?say in SETTLE_CONFORMANCE where the corpus is}
floors=Scripts/conformance-floors.txt
topics=("$@")
(($# > 0)) || mapfile -t topics < <(cut -d ' ' -f 1 "$floors")

folder=$(mktemp -d)
store=(--data "$folder/data")
if [[ ${SETTLE_TEST_ENGINE:-} == postgres ]]; then
    .build/debug/settle postgres migrate --postgres "$SETTLE_TEST_POSTGRES_OWNER" \
        --postgres-password-file "$SETTLE_TEST_POSTGRES_OWNER_PASSWORD_FILE"
    store=(--postgres "$SETTLE_TEST_POSTGRES" --postgres-password-file "$SETTLE_TEST_POSTGRES_PASSWORD_FILE"
        --index-dir "$folder/indexes")
fi
SETTLE_ADMIN_PASSWORD=admin .build/debug/settle serve --admin admin "${store[@]}" --port 0 --json >"$folder/out" &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
for _ in $(seq 100); do
    [[ -s $folder/out ]] && break
    sleep 0.1
done
port=$(grep -o '"port":[0-9]*' "$folder/out" | grep -o '[0-9]*')
only=()
for topic in "${topics[@]}"; do only+=(--only "$topic--"); done
status=0
python3 "$corpus/replay.py" --base "http://127.0.0.1:$port" "${only[@]}" ${REPLAY_OPTIONS:-} | tee "$folder/report" ||
    status=$?
(($# == 0)) || exit "$status"

# A line of the final table: topic, passed/total.
fewer=$(awk '
    NR == FNR { floor[$1] = $2; next }
    NF == 2 && ($1 in floor) && $2 ~ /^[0-9]+\/[0-9]+$/ { split($2, counts, "/"); passed[$1] = counts[1] }
    END { for (topic in floor) if (passed[topic] + 0 < floor[topic])
        printf "%s: %d steps pass, %d did\n", topic, passed[topic], floor[topic] }
' "$floors" "$folder/report")
[[ -z $fewer ]] || {
    printf '\n%s\n' "$fewer" >&2
    exit 1
}
echo "No topic passes fewer steps than it did."
