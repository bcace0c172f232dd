#!/usr/bin/env bash
# Runs the console in browsers: Tests/Console with Debian's Chromium and Firefox and Playwright, in a Python environment under .build.
# Says why, and ends with success, where there is no Chromium and none can be installed; does without Firefox in the same way.
# It is the Chromium without windows, which takes a quarter less of a processor; SETTLE_CHROMIUM names another one.
# Usage: Scripts/console-test.sh [OPTIONS of Tests/Console/scenarios.py]
set -euo pipefail
cd "$(dirname "$0")/.."

skip() { printf 'console: skipped, for %s\n' "$*"; exit 0; }
have() { command -v "$1" >/dev/null 2>&1; }

have python3 || skip "there is no python3"

installs() { have apt-get && [[ $(id -u) == 0 ]]; }
install() {
    printf 'console: installing %s\n' "$1"
    { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@"; } >/dev/null 2>&1
}

if [[ ! -x ${SETTLE_CHROMIUM:=/usr/bin/chromium-headless-shell} ]]; then
    installs || skip "there is no $SETTLE_CHROMIUM, and only root can install it"
    install chromium-headless-shell fonts-dejavu-core python3-venv || skip "Chromium can't be installed here"
fi
# Pictures of the pages are kept with these fonts. The scenarios say if they are not there.
[[ -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ]] || ! installs || install fonts-dejavu-core fontconfig || true
if [[ ! -x ${SETTLE_FIREFOX:=/usr/bin/firefox-esr} ]]; then
    if ! installs; then
        printf 'console: Firefox is left out, for there is no %s, and only root can install it\n' "$SETTLE_FIREFOX"
    elif ! install firefox-esr; then
        printf "console: Firefox is left out, for it can't be installed here\n"
    fi
fi
export SETTLE_CHROMIUM SETTLE_FIREFOX

room=.build/console
stamp=$room/$(cksum <Tests/Console/requirements.txt | tr ' ' -)
if [[ ! -e $stamp ]]; then
    rm -rf "$room"
    python3 -m venv "$room" >/dev/null 2>&1 || skip "python3 can't make an environment here (python3-venv)"
    "$room/bin/pip" install --quiet --disable-pip-version-check -r Tests/Console/requirements.txt \
        || skip "Playwright can't be installed here"
    touch "$stamp"
fi
exec timeout 1800 "$room/bin/python" Tests/Console/scenarios.py "$@"
