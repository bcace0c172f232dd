#!/usr/bin/env bash
# Demonstrates Settle with the command-line tool alone: the package catalogue of this machine becomes a database,
# which two devices share through a server, edit offline, and replicate again.
set -euo pipefail
cd "$(dirname "$0")/.."

settle="$(swift build -c release --show-bin-path)/settle"
room=$(mktemp -d "${TMPDIR:-/tmp}/settle-demo.XXXXXX")
server=''
leave() {
    [[ -z $server ]] || { kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; }
    rm -rf "$room"
}
trap leave EXIT

catalogue="$room/catalogue.txt"
documents="$room/documents.jsonl"
laptop="$room/laptop"
phone="$room/phone"
started=$SECONDS
# The password of a local server that ends with this script.
password=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')

bold='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then bold=$'\033[1m' plain=$'\033[0m'; fi
heading() { printf '\n%s== %s%s\n' "$bold" "$1" "$plain"; }

# Prints the command as a user would type it, then runs it.
show() {
    local word
    printf '$ settle'
    for word in "${@//$room\//}"; do
        word=${word//:"$password"@/@}
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

heading "A server starts on this machine"
SETTLE_ADMIN="demo:$password" "$settle" serve --data "$room/hub" --port 0 --json >"$room/serving" 2>"$room/log" &
server=$!
for _ in $(seq 100); do
    [[ -s $room/serving ]] && break
    kill -0 "$server" || { cat "$room/log"; exit 1; }
    sleep 0.1
done
address=$(sed -n 's/.*"url":"http:\/\/\([^"\/]*\)\/".*/\1/p' "$room/serving" | head -1)
hub="http://demo:$password@$address/packages"
echo "It listens on http://$address/, and speaks CouchDB's HTTP API"

heading "The laptop imports them, and both devices replicate with the server"
show import "$laptop" - <"$documents"
review='{"package": "bash", "stars": 3, "votes": 10, "tags": ["shell"], "text": "Runs everywhere."}'
review=$("$settle" put "$laptop" review:bash "$review")
show push "$laptop" "$hub" --create
show pull "$phone" "$hub"
show docs "$phone" --limit 3

heading "Both are edited while apart"
echo "A review: the laptop counts 3 more votes, adds a tag and a sentence; the phone counts 5 more, adds another tag,"
echo "gives a star and attaches a file."
"$settle" put "$laptop" review:bash --rev "$review" >/dev/null \
    '{"package": "bash", "stars": 3, "votes": 13, "tags": ["shell", "posix"], "text": "Runs everywhere. Starts fast."}'
"$settle" put "$phone" review:bash --rev "$review" >/dev/null \
    '{"package": "bash", "stars": 4, "votes": 15, "tags": ["shell", "classic"], "text": "Runs everywhere."}'
"$settle" attach "$phone" review:bash Scripts/demo.sh --type text/plain >/dev/null

# Filters the first packages of a database, and saves the result.
edit() {
    local database=$1
    shift
    # Uses a file, since only one process at a time can open a database.
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

heading "They meet at the server: nothing is lost, and all pick the same winners"
show sync "$laptop" "$hub"
show sync "$phone" "$hub"
show pull "$laptop" "$hub"
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

heading "They meet again: both wrote the same revisions, so the second has nothing to say"
show sync "$laptop" "$hub"
show sync "$phone" "$hub"
# A copy's winners and leaves, without their sequences, which differ per copy.
leaves() { "$settle" changes "$1" --all-leaves --json | sed -E 's/"seq":("[^"]*"|[0-9]+),//' | LC_ALL=C sort; }
leaves "$laptop" >"$room/leaves-laptop"
leaves "$phone" >"$room/leaves-phone"
leaves "$hub" >"$room/leaves-hub"
cmp "$room/leaves-laptop" "$room/leaves-phone"
cmp "$room/leaves-laptop" "$room/leaves-hub"
echo "Compared: all winners and leaves of $(wc -l <"$room/leaves-phone" | tr -d ' ') documents are the same in all three."
show get "$phone" review:bash
show tree "$phone" review:bash

heading "Every byte is checked"
show verify "$laptop"
show verify "$phone"

heading "In short"
left=$("$settle" conflicts "$laptop" --deletions --json | wc -l | tr -d ' ')
printf '  %-22s %s\n' \
    "documents" "$(wc -l <"$documents" | tr -d ' '), on a laptop, a phone and a server" \
    "edited on both sides" "$disputes, and nothing was lost" \
    "conflicts left" "$left; each device settled by itself, and both came to the same" \
    "time" "$((SECONDS - started)) s"
echo
echo "That was all temporary. Your own: settle create my-database"
