#!/usr/bin/env bash
# Checks which C libraries each product needs, on Linux: Scripts/linkage.sh [--write]
# The result must match Scripts/linkage.txt; with --write that file is rewritten. A program of this package represents
# a library: CrashTool for Settle, ShoppingList for SettleServer, and a temporary one for SettleCore.
set -euo pipefail
cd "$(dirname "$0")/.."

[[ $(uname) == Linux ]] || exit 0
table=Scripts/linkage.txt
Scripts/swift-debug.sh build >/dev/null
bin=$(swift build --show-bin-path)
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT

cat >"$room/main.swift" <<'SWIFT'
import SettleCore
print(RevisionHasher().revision(of: .empty))
SWIFT
# The objects of existing sources; a build directory keeps those of removed files.
objects=()
for target in SettlePlatform SettleCrypto SettleCore; do
    while IFS= read -r source; do objects+=("$bin/$target.build/${source##*/}.o"); done \
        < <(find "Sources/$target" -name '*.swift')
done
swiftc -I "$bin/Modules" -I Sources/CCrypto -I Sources/CZlib "$room/main.swift" "${objects[@]}" \
    -module-name Probe -o "$room/SettleCore"

# The libraries of a program except Swift's own and the system's, on one line.
needed() {
    readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\.so.*\]/\1/p' |
        grep -vE '^(lib(swift.*|Testing.*|_Testing.*|Foundation.*|_Foundation.*|BlocksRuntime|dispatch|c|m|gcc_s|stdc\+\+|pthread|dl|rt)|ld-.*)$' |
        sort -u | paste -sd ' '
}
found() {
    echo "SettleCore $(needed "$room/SettleCore")"
    echo "Settle $(needed "$bin/CrashTool")"
    echo "SettleServer $(needed "$bin/ShoppingList")"
    echo "settle $(needed "$bin/settle")"
    echo "settle-simulate $(needed "$bin/settle-simulate")"
}
found >"$room/found"
if [[ ${1:-} == --write ]]; then
    { grep '^#' "$table"; cat "$room/found"; } >"$room/table"
    cp "$room/table" "$table"
elif ! diff <(grep -v '^#' "$table") "$room/found"; then
    echo "a product needs other C libraries than $table says: if that is meant, run Scripts/linkage.sh --write" >&2
    exit 1
fi
