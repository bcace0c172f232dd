#!/usr/bin/env bash
# Runs the console in a browser: Tests/Console with Debian's Chromium and Playwright, in a Python environment under .build.
# Says why, and ends with success, where there is no browser and none can be installed.
# Usage: Scripts/console-test.sh [--settle PATH] [--only NAMES] [--pictures FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."

skip() { printf 'console: skipped, for %s\n' "$*"; exit 0; }
have() { command -v "$1" >/dev/null 2>&1; }

have python3 || skip "there is no python3"

if [[ ! -x ${SETTLE_CHROMIUM:=/usr/bin/chromium} ]]; then
    have apt-get && [[ $(id -u) == 0 ]] || skip "there is no $SETTLE_CHROMIUM, and only root can install it"
    printf 'console: installing Chromium\n'
    { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium fonts-dejavu-core python3-venv; } \
        >/dev/null 2>&1 || skip "Chromium can't be installed here"
fi
export SETTLE_CHROMIUM

room=.build/console
stamp=$room/$(cksum <Tests/Console/requirements.txt | tr ' ' -)
if [[ ! -e $stamp ]]; then
    rm -rf "$room"
    python3 -m venv "$room" >/dev/null 2>&1 || skip "python3 can't make an environment here (python3-venv)"
    "$room/bin/pip" install --quiet --disable-pip-version-check -r Tests/Console/requirements.txt \
        || skip "Playwright can't be installed here"
    touch "$stamp"
fi
exec timeout 900 "$room/bin/python" Tests/Console/scenarios.py "$@"
