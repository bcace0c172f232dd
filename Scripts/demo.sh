#!/usr/bin/env bash
# Shows Settle at work, by the command-line tool alone: the package catalogue of this machine becomes a database, which
# two people copy, edit apart, and bring together again.
set -euo pipefail
cd "$(dirname "$0")/.."

settle="$(swift build -c release --show-bin-path)/settle"
room=$(mktemp -d "${TMPDIR:-/tmp}/settle-demo.XXXXXX")
trap 'rm -rf "$room"' EXIT

catalogue="$room/catalogue.txt"
documents="$room/documents.jsonl"
laptop="$room/laptop"
phone="$room/phone"
started=$SECONDS

bold='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then bold=$'\033[1m' plain=$'\033[0m'; fi
heading() { printf '\n%s== %s%s\n' "$bold" "$1" "$plain"; }

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

heading "Import them on the laptop, and copy them to the phone"
show import "$laptop" - <"$documents"
review='{"package": "bash", "stars": 3, "votes": 10, "tags": ["shell"], "text": "Runs everywhere."}'
review=$("$settle" put "$laptop" review:bash "$review")
show sync "$laptop" "$phone"
show docs "$phone" --limit 3

heading "Both are edited while apart"
echo "A review: the laptop counts 3 more votes, adds a tag and a sentence; the phone counts 5 more, adds another tag,"
echo "gives a star and attaches a file."
"$settle" put "$laptop" review:bash --rev "$review" >/dev/null \
    '{"package": "bash", "stars": 3, "votes": 13, "tags": ["shell", "posix"], "text": "Runs everywhere. Starts fast."}'
"$settle" put "$phone" review:bash --rev "$review" >/dev/null \
    '{"package": "bash", "stars": 4, "votes": 15, "tags": ["shell", "classic"], "text": "Runs everywhere."}'
"$settle" attach "$phone" review:bash Scripts/demo.sh --type text/plain >/dev/null

# Gives the first packages of a database to a filter, and saves what it makes of them.
edit() {
    local database=$1
    shift
    # By way of a file, since a database belongs to one process at a time.
    "$settle" docs "$database" --bodies --limit 200 >"$room/before"
    grep -v '"_id":"review:' "$room/before" | perl -pe 's/"_rev":"[^"]*",//' | "$@" >"$room/after"
    "$settle" import "$database" "$room/after" --on-conflict overwrite --quiet
}
echo "200 packages: the laptop sets the priority of each, the phone adds a note to each, and sets the priority of every"
echo "tenth to something else."
edit "$laptop" perl -pe 's/"priority":"[^"]*"/"priority":"laptop"/'
edit "$phone" perl -pe 's/}$/,"note":"seen on the phone"}/; s/"priority":"[^"]*"/"priority":"phone"/ if $. % 10 == 0'
echo "0ad: the laptop deletes what the phone has edited."
"$settle" delete "$laptop" 0ad --force >/dev/null

heading "They meet: nothing is lost, and both pick the same winners"
show sync "$laptop" "$phone"
show conflicts "$laptop" --counts
disputes=$("$settle" conflicts "$laptop" --deletions --json | wc -l | tr -d ' ')
show conflicts "$laptop" --limit 2

heading "One of the conflicts"
rules=(--merge-rule /votes=sum --merge-rule /tags=union)
show tree "$laptop" review:bash
echo
show show "$laptop" review:bash "${rules[@]}"

heading "Both settle everything at once, before they meet again"
show resolve "$laptop" --all "${rules[@]}" &
laptop_settles=$!
"$settle" resolve "$phone" --all "${rules[@]}" >"$room/settled" 2>&1
wait "$laptop_settles"
echo "$ settle resolve phone --all ${rules[*]}"
cat "$room/settled"
echo
echo "What stands against a deletion is another question, asked of a policy that answers it:"
show resolve "$laptop" --all --policy deletesWin
show resolve "$phone" --all --policy deletesWin

heading "They meet again, and have nothing to say: both wrote the same revisions"
show sync "$laptop" "$phone"
# A copy's winners and leaves, without the positions of their changes, which are each copy's own.
leaves() { "$settle" changes "$1" --all-leaves --json | sed 's/"seq":[0-9]*,//' | LC_ALL=C sort; }
leaves "$laptop" >"$room/leaves-laptop"
leaves "$phone" >"$room/leaves-phone"
cmp "$room/leaves-laptop" "$room/leaves-phone"
echo "Compared: all winners and leaves of $(wc -l <"$room/leaves-phone" | tr -d ' ') documents are the same."
show get "$phone" review:bash
show tree "$phone" review:bash

heading "Every byte is checked"
show verify "$laptop"
show verify "$phone"

heading "In short"
left=$("$settle" conflicts "$laptop" --deletions --json | wc -l | tr -d ' ')
echo "Two copies of $(wc -l <"$documents" | tr -d ' ') packages, $disputes documents edited on both sides; $left conflicts are left."
echo "Each copy settled by itself, and both came to the same. All that took $((SECONDS - started)) s."
echo
echo "That was all temporary. Your own: settle create my-database"
