#!/usr/bin/env bash
# Makes the fuzzers' seeds that can't be written by hand: packed trees, and the files of small databases.
set -euo pipefail
cd "$(dirname "$0")/.."

swift build --product CrashTool
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
"$(swift build --show-bin-path)/CrashTool" corpus "$room"
for target in tree file; do cp "$room/$target"/* "Fuzz/Corpus/$target/"; done
