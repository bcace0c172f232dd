#!/usr/bin/env bash
# Measures the order of strings against ICU, and compares random pairs with it (PAIRS of each kind, none by default).
#
#   PAIRS=700000 Benchmarks/collation/run.sh
#
# The package shows neither keys nor the table, so the few files are compiled here.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=.build/collation
mkdir -p "$out"
printf 'module CICU { header "%s" export * }\n' "$PWD/Tests/CICU/include/CICU.h" >"$out/CICU.modulemap"
clang -O -c Tests/CICU/CICU.c -I Tests/CICU/include -o "$out/CICU.o"
printf 'struct DatabaseError: Error {\n    enum Code { case storage, attachmentMissing, invalid }\n    let code: Code\n' >"$out/Error.swift"
printf '    init(_ code: Code, _ text: String) { self.code = code }\n}\n' >>"$out/Error.swift"
swiftc -O -wmo -swift-version 6 -package-name settle -I Sources/CZlib -Xcc "-fmodule-map-file=$out/CICU.modulemap" \
    Benchmarks/collation/main.swift "$out/Error.swift" Sources/SettleDatabase/Attachments/Gzip.swift \
    Sources/SettleDatabase/Queries/Collation?*.swift Tests/CollationTests/{ICU,TextKind}.swift Sources/SettleTesting/Simulation/SeededRandom.swift \
    "$out/CICU.o" -lz -licui18n -licuuc -o "$out/collation"
"$out/collation" "${PAIRS:-0}"
