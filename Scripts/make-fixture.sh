#!/usr/bin/env bash
# Makes the fixture of a file format: a small database with all kinds of content. The fixture of a released format is
# never changed; this is for a format that is new or not yet released.
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
