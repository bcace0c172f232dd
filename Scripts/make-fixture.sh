#!/usr/bin/env bash
# Makes the fixture of a file format: a small database with something of everything. A format that was released keeps its
# fixture for good; this is for a new one, or for one that was not released yet.
set -euo pipefail
cd "$(dirname "$0")/.."

format=${1:-1}
swift build --product CrashTool
folder=Tests/SettleDatabaseTests/Fixtures/format-$format
rm -rf "$folder"
mkdir -p "$folder"
"$(swift build --show-bin-path)/CrashTool" fixture "$folder/example.settle"
rm -rf "$folder/example.settle"/{lock,attachments/new}
Scripts/make-corpus.sh
