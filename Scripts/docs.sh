#!/usr/bin/env bash
# Renders the documentation, Sources/Settle/Settle.docc and all comments, into .build/docs.
# Any warning of DocC is a failure. Without docc, it prints a note and renders nothing.
# Before that it compares the public declarations with docs/API.txt, as `make api` writes it.
set -euo pipefail
cd "$(dirname "$0")/.."

swift package dump-symbol-graph --minimum-access-level public --skip-synthesized-members
if [[ ${1:-} == --write-api ]]; then
    exec Scripts/api.py
fi
Scripts/api.py --check

if command -v docc >/dev/null; then
    docc=docc
elif command -v xcrun >/dev/null && docc=$(xcrun --find docc 2>/dev/null); then
    :
else
    echo "docs: skipped, there is no docc here; it comes with Swift from https://www.swift.org/install" >&2
    exit 0
fi

out=.build/docs
graphs=.build/docs-symbols
rm -rf "$graphs"
mkdir -p "$graphs"

bin=$(swift build --show-bin-path)

# `import Settle` imports six modules, but readers of the documentation see only one.
for graph in "${bin%/*}"/symbolgraph/{SettleCore,Settle,SettleQuery,SettleDatabase,SettleHTTP,SettleReplication,SettleViews}{,@*}.symbols.json; do
    [[ -e $graph ]] || continue
    # What one of these modules adds to a type of another has pages like the type's own members, if its name has no @.
    name=${graph##*/}
    sed -E 's/"module":\{"name":"(SettleCore|SettleQuery|SettleDatabase|SettleHTTP|SettleReplication|SettleViews)"/"module":{"name":"Settle"/' \
        "$graph" >"$graphs/${name/@Settle/+Settle}"
done

rm -rf "$out"
"$docc" convert Sources/Settle/Settle.docc --additional-symbol-graph-dir "$graphs" --output-path "$out" \
    --fallback-display-name Settle --fallback-bundle-identifier settle --warnings-as-errors
echo "Rendered into $out. To read it, serve that folder and open /documentation/settle"
