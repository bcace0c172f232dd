#!/usr/bin/env bash
# Shows Settle at work, by the command-line tool alone: the package catalogue of this machine becomes a database.
set -euo pipefail
cd "$(dirname "$0")/.."

settle="$(swift build -c release --show-bin-path)/settle"
room=$(mktemp -d "${TMPDIR:-/tmp}/settle-demo.XXXXXX")
trap 'rm -rf "$room"' EXIT

catalogue="$room/catalogue.txt"
documents="$room/documents.jsonl"
database="$room/packages"

heading() { printf '\n\033[1m== %s\033[0m\n' "$1"; }

# Prints the command as a reader would type it, then runs it.
show() {
    local word
    printf '$ settle'
    for word in "${@//$room\//}"; do
        if [[ $word == *" "* ]]; then printf " '%s'" "$word"; else printf ' %s' "$word"; fi
    done
    printf '\n'
    "$settle" "$@"
}

heading "A catalogue of packages becomes JSON documents"
if command -v apt-cache >/dev/null && apt-cache dumpavail >"$catalogue" 2>/dev/null \
    && (($(grep -c '^Package:' "$catalogue") >= 100)); then
    echo "Source: this machine's own Debian catalogue"
else
    cp Examples/packages-sample.txt "$catalogue"
    echo "Source: the sample in Examples/packages-sample.txt"
fi
Scripts/packages-to-json.pl <"$catalogue" >"$documents"
echo "$(wc -l <"$documents" | tr -d ' ') documents, $(($(wc -c <"$documents") / 1024)) KiB of JSON"

heading "Import them"
show create "$database"
show import "$database" - <"$documents"
show info "$database"

heading "Read"
show docs "$database" --limit 3
show get "$database" bash
show changes "$database" --limit 3 --descending

heading "Two people edit the same document while apart"
first=$("$settle" put "$database" note:bread '{"text": "Buy bread"}')
echo "Both start from $first."
show put "$database" note:bread '{"text": "Buy bread and butter"}' --rev "$first"
show put "$database" note:bread '{"text": "Buy two loaves"}' --rev "$first" --allow-conflict
echo
echo "Nothing is lost: both edits are kept, and every copy of this database picks the same winner."
show tree "$database" note:bread
show get "$database" note:bread

heading "Check every byte"
show verify "$database"

echo
echo "That was all temporary. Your own: settle create my-database"
