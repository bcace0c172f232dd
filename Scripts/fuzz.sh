#!/usr/bin/env bash
# Builds the fuzzers and lets each run for SECONDS_EACH, JOBS at a time.
# TARGETS names some of: document tree identifier level terms clocks file mobile fleece.
# New inputs are kept in .build/fuzz/corpus; an input that fails is printed and kept in .build/fuzz/failures.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${SECONDS_EACH:-300}
targets=${TARGETS:-document tree identifier level terms clocks file mobile fleece}
out=.build/fuzz
mkdir -p "$out"/{corpus,failures}

# SwiftPM can't link libFuzzer's main, so the modules are compiled here, one after the other.
flags=(
    -use-ld=lld -swift-version 6 -warnings-as-errors -parse-as-library -package-name settle -sanitize=fuzzer,address
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility
    -enable-upcoming-feature InternalImportsByDefault
    -I "$out" -I Sources/CSQLite -I Sources/CCrypto -I Sources/CZlib -I Sources/CPCRE2
)
# The objects are compiled JOBS at a time, after the interfaces that they need. An interface is made without the bodies of functions.
compile() {
    local module=$1 folder=Sources/$1
    [[ $module == FuzzTargets ]] && folder=Fuzz/Targets
    find "$folder" -name '*.swift' -print0 | sort -z |
        xargs -0 swiftc "${flags[@]}" -wmo -module-name "$module" "${@:2}"
}
modules=(SettlePlatform SettleCrypto SettleCore SettleQuery SettleDatabase SettleMobile SettleImport FuzzTargets)
objects=()
compiling=()
for module in "${modules[@]}"; do
    echo "compiling $module"
    compile "$module" -Onone -emit-module -emit-module-path "$out/$module.swiftmodule" \
        -Xfrontend -experimental-skip-non-inlinable-function-bodies
    while (($(jobs -rp | wc -l) >= ${JOBS:-1})); do wait -n; done
    objects+=("$out/$module.o")
    # Only the fuzzer of files runs these, and it mostly waits for SQLite. Optimizing them takes the most time.
    level=-O
    [[ $module == Settle@(Query|Database) ]] && level=-Onone
    compile "$module" "$level" -c -o "$out/$module.o" &
    compiling+=($!)
done
for job in "${compiling[@]}"; do wait "$job"; done
for target in $targets; do
    echo "linking $target"
    swiftc "${flags[@]}" -D "FUZZ_${target^^}" Fuzz/Entry/Entry.swift \
        "${objects[@]}" -o "$out/fuzz-$target" -lsqlite3 -lcrypto -lz -lpcre2-8
done

export SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS=detect_leaks=0
run() {
    local target=$1 out=$2 seconds=$3 largest=4096
    local log="$out/$target.log"
    mkdir -p "$out/corpus/$target"
    [[ $target == file ]] && largest=65536
    if "$out/fuzz-$target" -max_total_time="$seconds" -max_len="$largest" -timeout=20 -rss_limit_mb=4096 \
        -artifact_prefix="$out/failures/$target-" -print_final_stats=1 \
        "$out/corpus/$target" "Fuzz/Corpus/$target" >"$log" 2>&1
    then
        echo "$target: $(awk '/number_of_executed_units/ { print $2 }' "$log") inputs, no failure"
    else
        echo "$target: FAILED"
        tail -40 "$log"
        return 1
    fi
}
export -f run
# shellcheck disable=SC2086
printf '%s\n' $targets | xargs -P "${JOBS:-1}" -I {} bash -c "run {} '$out' '$seconds'"
