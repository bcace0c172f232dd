#!/usr/bin/env bash
# Installs missing build dependencies. If nothing is missing, it prints nothing.
# With --tests also those of tests: ICU, the official cases of JSON Schema, shells that complete commands, proxies, and PostgreSQL's
# server, of which nothing is started; with --counts also valgrind, which counts instructions, and strip.
set -euo pipefail

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

require_swift() {
    have swift || fail "Swift is missing. Install Swift 6.3 or later from https://www.swift.org/install and run this again."
}

# Prints the missing Debian packages, one per line.
missing_on_debian() {
    have make || echo make
    if ! have pkg-config; then
        printf '%s\n' pkg-config libsqlite3-dev libssl-dev zlib1g-dev libpcre2-dev libmicrohttpd-dev \
            libcurl4-openssl-dev libpq-dev libedit-dev libjavascriptcoregtk-4.1-0
        return
    fi
    pkg-config --exists sqlite3 || echo libsqlite3-dev
    pkg-config --exists libcrypto || echo libssl-dev
    pkg-config --exists zlib || echo zlib1g-dev
    pkg-config --exists libpcre2-8 || echo libpcre2-dev
    pkg-config --exists libmicrohttpd || echo libmicrohttpd-dev
    pkg-config --exists libcurl || echo libcurl4-openssl-dev
    pkg-config --exists libpq || echo libpq-dev
    pkg-config --exists libedit || echo libedit-dev
    # Workers load it at run time; Sources/CJavaScriptCore names the libraries that they try.
    grep -q 'libjavascriptcoregtk-[0-9.]*\.so\.' < <(/sbin/ldconfig -p) || echo libjavascriptcoregtk-4.1-0
}

# Test data, without which the tests that read it are skipped, ICU, which tests compare the order of strings with, and shells,
# which tests complete commands in.
missing_for_tests() {
    [[ $tests == yes ]] || return 0
    [[ -d /usr/share/json-schema-test-suite ]] || echo json-schema-test-suite
    [[ -e /usr/include/unicode/ucol.h ]] || echo libicu-dev
    have zsh || echo zsh
    have fish || echo fish
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || echo postgresql
    # Proxies, which tests run with the files in Examples.
    [[ -x /usr/sbin/nginx ]] || echo nginx-light
    [[ -x /usr/sbin/haproxy ]] || echo haproxy
    [[ -x /usr/sbin/pgbouncer ]] || echo pgbouncer
}

missing_for_counts() {
    [[ $counts == yes ]] || return 0
    have valgrind || echo valgrind
    have strip || echo binutils
}

# Homebrew does not link these where pkg-config finds them, so its own paths are used.
missing_on_macos() {
    local installed name
    installed=$(brew list --formula)
    for name in openssl@3 libmicrohttpd libpq pkg-config; do
        # The current formula for pkg-config is called pkgconf.
        if [[ $name == pkg-config ]] && have pkg-config; then continue; fi
        grep -qx "$name" <<<"$installed" || echo "$name"
    done
    [[ $tests == yes ]] || return 0
    have fish || echo fish
    compgen -G "$(brew --prefix)/opt/postgresql@*/bin/initdb" >/dev/null || echo postgresql@17
}

# While the package is installed, it makes and starts no cluster; tests make their own.
without_cluster() {
    local folder=/etc/postgresql-common/createcluster.d
    trap "${as_root[*]-} rm -f $folder/settle.conf" EXIT
    ${as_root[@]+"${as_root[@]}"} mkdir -p "$folder"
    echo 'create_main_cluster = false' | ${as_root[@]+"${as_root[@]}"} tee "$folder/settle.conf" >/dev/null
}

install_on_debian() {
    local as_root=()
    if [[ $(id -u) != 0 ]]; then
        have sudo || fail "these Debian packages are missing; install them as root: $*"
        as_root=(sudo)
    fi
    say "installing the Debian packages: $*"
    if [[ " $* " == *" postgresql "* ]]; then without_cluster; fi
    ${as_root[@]+"${as_root[@]}"} apt-get update -q </dev/null
    ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends "$@" </dev/null
    say "done"
}

tests=no
counts=no
for option in "$@"; do
    case $option in
        --tests) tests=yes ;;
        --counts) counts=yes ;;
        *) fail "there is no option $option; the options are --tests and --counts" ;;
    esac
done
require_swift
if [[ $(uname) == Darwin ]]; then
    have brew || fail "Homebrew is missing (https://brew.sh). It brings: openssl@3 libmicrohttpd libpq pkg-config"
    missing=$(missing_on_macos)
    [[ -z $missing ]] && exit 0
    say "installing with Homebrew:" $missing
    exec brew install $missing </dev/null
fi

missing=$(missing_on_debian; missing_for_tests; missing_for_counts)
[[ -z $missing ]] && exit 0
have apt-get || fail "install the development files of SQLite, OpenSSL, zlib, PCRE2, libmicrohttpd, libcurl, libpq and libedit, and pkg-config and JavaScriptCore. In Debian's words:" $missing
install_on_debian $missing
