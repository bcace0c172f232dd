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
find Sources/SettlePlatform -name '*.swift' -print0 | xargs -0 swiftc -O -wmo -swift-version 6 -package-name settle -parse-as-library \
    -I Sources/CZlib -module-name SettlePlatform -emit-module -emit-module-path "$out/SettlePlatform.swiftmodule" \
    -c -o "$out/SettlePlatform.o"
swiftc -O -wmo -swift-version 6 -package-name settle -I "$out" -I Sources/CZlib -Xcc "-fmodule-map-file=$out/CICU.modulemap" \
    Benchmarks/collation/main.swift \
    Sources/SettleQuery/Collation/Collation?*.swift Tests/CollationTests/{ICU,TextKind}.swift Sources/SettleTesting/Simulation/SeededRandom.swift \
    "$out/SettlePlatform.o" "$out/CICU.o" -lz -licui18n -licuuc -o "$out/collation"
"$out/collation" "${PAIRS:-0}"
