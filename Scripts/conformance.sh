#!/usr/bin/env bash
# Replays what a CouchDB answered against a server of this build, a topic after the other: Scripts/conformance.sh [TOPIC …]
# The corpus is looked for in SETTLE_CONFORMANCE. Without topics it replays those the server answers.
set -euo pipefail
cd "$(dirname "$0")/.."

corpus=${SETTLE_CONFORMANCE:?say in SETTLE_CONFORMANCE where the corpus is}
# Served as far as no design functions or queries are needed. Not served at all yet: views collation mango-find
# mango-index mango-explain mango-operators validation update-functions replication replicator.
served=(server database maintenance documents design-docs local-docs revision-ids bulk-docs conflicts open-revs
    revs-limit revs-diff bulk-get changes all-docs attachments purge http security session users)
(($# > 0)) && served=("$@")

folder=$(mktemp -d)
SETTLE_ADMIN_PASSWORD=admin .build/debug/settle serve --admin admin --data "$folder" --port 0 --json >"$folder/out" &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
for _ in $(seq 100); do
    [[ -s $folder/out ]] && break
    sleep 0.1
done
port=$(grep -o '"port":[0-9]*' "$folder/out" | grep -o '[0-9]*')
only=()
for topic in "${served[@]}"; do only+=(--only "$topic"); done
python3 "$corpus/replay.py" --base "http://127.0.0.1:$port" "${only[@]}" ${REPLAY_OPTIONS:-}
