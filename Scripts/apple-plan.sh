#!/usr/bin/env bash
# Checks on any machine how the library would be built for an iPhone: which libraries and folders of headers the plan names.
# The package manager writes the plan before it finds out that the SDK, here an empty folder, has no standard library.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=.build/apple-plan
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
mkdir -p "$room/bin" "$room/sdk"
for tool in libtool xcrun; do
    printf '#!/bin/sh\nexit 0\n' >"$room/bin/$tool"
    chmod +x "$room/bin/$tool"
done

rm -f "$scratch/debug.yaml"
PATH="$room/bin:$PATH" swift build --triple arm64-apple-ios18.0 --sdk "$room/sdk" --scratch-path "$scratch" \
    --target Settle >"$room/log" 2>&1 || true
if [[ ! -s $scratch/debug.yaml ]]; then
    tail -n 20 "$room/log" >&2
    echo "apple-plan: there is no plan" >&2
    exit 1
fi

Scripts/apple-plan.py "$scratch/debug.yaml" "$PWD" "$room"
# Nobody compiles these files here; their syntax is checked.
grep -rlZE '^#if (canImport\((Darwin|CryptoKit|CommonCrypto|os)\)|SETTLE_APPLE)' Sources --include='*.swift' | xargs -0 swiftc -parse -target arm64-apple-ios18.0
# A fault in C is found too, for C is compiled for the triple.
if grep -E '\.(c|h):[0-9]+:[0-9]+: error' "$room/log" >&2; then exit 1; fi
