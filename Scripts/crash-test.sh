#!/usr/bin/env bash
# Kills a writing process ROUNDS times and checks that no acknowledged write is lost. SEED replays a run's choices.
set -euo pipefail
cd "$(dirname "$0")/.."

swift build --product CrashTool
exec "$(swift build --show-bin-path)/CrashTool" drive "${ROUNDS:-200}" ${SEED:+"$SEED"}
