#!/usr/bin/env bash
# Makes what people install: a tarball and a Debian package of the tool, with the Swift runtime inside, in dist/.
#   Scripts/dist.sh                    builds, stages, packs and checks
#   Scripts/dist.sh stage TOOL FOLDER  only puts the files in place below FOLDER, with a tool that is built already
#   Scripts/dist.sh check              only checks what is in dist/
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=.build/dist
out=dist
# The version is written in one place.
version=$(sed -n 's/.*static let current = "\(.*\)"/\1/p' Sources/SettleHTTP/Client/ProductVersion.swift)
machine=$(uname -m)
name=settle-$version-linux-$machine

say() { printf 'dist: %s\n' "$*"; }
fail() { printf 'dist: %s\n' "$*" >&2; exit 1; }

# Builds the tool: optimised, without debug information, and with the Swift runtime inside.
build() {
    local begun=$SECONDS
    local flags=(-c release --product settle --static-swift-stdlib --scratch-path "$scratch")
    SETTLE_COMMIT=$(git describe --always --dirty --exclude '*' --abbrev=12 2>/dev/null) || SETTLE_COMMIT=''
    export SETTLE_COMMIT
    "${SWIFT:-swift}" build "${flags[@]}"
    tool=$scratch/settle
    cp "$("${SWIFT:-swift}" build "${flags[@]}" --show-bin-path)/settle" "$tool"
    local before
    before=$(stat -c %s "$tool")
    strip "$tool"
    say "built in $((SECONDS - begun)) s: $before bytes, $(stat -c %s "$tool") without symbols"
}

# Puts all files in place below a folder, as below /usr/local.
stage() {
    local tool=$1 root=$2
    install -D -m 755 "$tool" "$root/bin/settle"
    install -d "$root/share/man/man1" "$root/share/bash-completion/completions" "$root/share/zsh/site-functions" \
        "$root/share/fish/vendor_completions.d" "$root/share/doc/settle"
    "$tool" help --man >"$root/share/man/man1/settle.1"
    "$tool" help --completions bash >"$root/share/bash-completion/completions/settle"
    "$tool" help --completions zsh >"$root/share/zsh/site-functions/_settle"
    "$tool" help --completions fish >"$root/share/fish/vendor_completions.d/settle.fish"
    install -D -m 644 Examples/systemd/settle.service "$root/lib/systemd/system/settle.service"
    install -m 644 Examples/systemd/settle.json "$root/share/doc/settle/settle.json"
    # What messages, the help and the settings refer to.
    install -d "$root/share/doc/settle/docs" "$root/share/doc/settle/Examples"
    install -m 644 docs/*.md docs/*.svg "$root/share/doc/settle/docs/"
    local example
    for example in caddy haproxy nginx systemd; do
        install -D -m 644 -t "$root/share/doc/settle/Examples/$example" Examples/$example/*
    done
    install -m 644 README.md CHANGELOG.md LICENSE LICENSES/Unicode-3.0.txt Scripts/dist/copyright Scripts/dist/INSTALL.md \
        "$root/share/doc/settle/"
}

# The time in everything that is packed: that of the commit, so that the time of packing changes nothing.
packing_time() { git log -1 --format=%ct 2>/dev/null || date +%s; }

pack_tarball() {
    local room=$1
    (cd "$room" && tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(packing_time)" -cf - "$name") |
        gzip -n -9 >"$out/$name.tar.gz"
}

# Turns the files of the tarball into those of a Debian package.
stage_debian() {
    local from=$1 root=$2
    install -d "$root/usr/share/zsh" "$root/usr/lib" "$root/usr/share/doc/settle"
    cp -a "$from/bin" "$root/usr/bin"
    cp -a "$from/share/man" "$from/share/bash-completion" "$from/share/fish" "$root/usr/share/"
    gzip -n -9 "$root/usr/share/man/man1/settle.1"
    cp -a "$from/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
    cp -a "$from/lib/systemd" "$root/usr/lib/systemd"
    sed -i 's|/usr/local/bin/|/usr/bin/|' "$root/usr/lib/systemd/system/settle.service"
    install -D -m 644 Examples/systemd/settle.json "$root/etc/settle/settle.json"
    install -m 644 Scripts/dist/copyright LICENSES/Unicode-3.0.txt "$root/usr/share/doc/settle/"
    cp -a "$from/share/doc/settle/README.md" "$from/share/doc/settle/docs" "$from/share/doc/settle/Examples" \
        "$root/usr/share/doc/settle/"
    gzip -n -9 <CHANGELOG.md >"$root/usr/share/doc/settle/changelog.gz"
}

# The packages that have the libraries of the tool, with their versions, and the one of JavaScriptCore, which the tool loads
# only to run design functions.
dependencies() {
    local room
    room=$(mktemp -d)
    mkdir -p "$room/debian/settle/DEBIAN" "$room/debian/settle/usr/bin"
    printf 'Source: settle\n\nPackage: settle\nArchitecture: any\n' >"$room/debian/control"
    cp "$1" "$room/debian/settle/usr/bin/settle"
    (cd "$room" && dpkg-shlibdeps -O debian/settle/usr/bin/settle) |
        sed -n 's/^shlibs:Depends=\(.*\)/\1, libjavascriptcoregtk-4.1-0/p'
    rm -rf "$room"
}

pack_debian() {
    local room=$1 root=$1/debian script size depends
    stage_debian "$room/$name" "$root"
    install -d "$root/DEBIAN"
    for script in postinst prerm postrm; do install -m 755 "Scripts/dist/$script" "$root/DEBIAN/$script"; done
    install -m 644 Scripts/dist/conffiles "$root/DEBIAN/conffiles"
    size=$(du -k -s --exclude=DEBIAN "$root" | cut -f 1)
    depends=$(dependencies "$root/usr/bin/settle")
    [[ -n $depends ]] || fail "dpkg-shlibdeps found no package for the libraries of the tool"
    sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$(dpkg --print-architecture)/" -e "s/@SIZE@/$size/" \
        -e "s/@DEPENDS@/$depends/" Scripts/dist/control >"$root/DEBIAN/control"
    SOURCE_DATE_EPOCH=$(packing_time) dpkg-deb --root-owner-group -Zxz --build "$root" "$out/$(package_name)" >/dev/null
}

package_name() { echo "settle_${version}_$(dpkg --print-architecture).deb"; }

# Whether this machine can make Debian packages.
makes_packages() { command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null; }

# A tool in a folder does its work there, and needs no library of Swift.
check_tool() {
    local tool=$1 room
    room=$(mktemp -d)
    [[ $("$tool" --version) == "settle $version"* ]] || fail "$("$tool" --version) is not version $version"
    (
        cd "$room"
        "$tool" create groceries >/dev/null
        "$tool" put groceries milk '{"name": "Milk", "count": 1}' >/dev/null
        [[ $("$tool" get groceries milk) == *'"count": 1'* || $("$tool" get groceries milk) == *'"count":1'* ]]
    ) || fail "the tool stores nothing"
    rm -rf "$room"
    if ldd "$tool" | grep -E 'not found|libswift|libFoundation|lib_Foundation|libdispatch|libBlocksRuntime'; then
        fail "the tool needs these libraries, which the package does not have"
    fi
}

# What is in dist/ can be unpacked, is complete, and works.
check() {
    local room path
    room=$(mktemp -d)
    (cd "$out" && sha256sum --quiet --check SHA256SUMS)
    tar -C "$room" -xzf "$out/$name.tar.gz"
    check_tool "$room/$name/bin/settle"
    while read -r path; do [[ -s $room/$name/$path ]] || fail "$path is missing in the tarball"; done <Scripts/dist/files
    if makes_packages; then
        dpkg-deb --info "$out/$(package_name)" >"$room/info"
        dpkg-deb --contents "$out/$(package_name)" >"$room/contents"
        for path in usr/bin/settle etc/settle/settle.json usr/lib/systemd/system/settle.service \
            usr/share/man/man1/settle.1.gz usr/share/doc/settle/copyright; do
            grep -q " ./$path\$" "$room/contents" || fail "$path is missing in the Debian package"
        done
        grep -E '^ (Version|Depends|Installed-Size):' "$room/info"
        dpkg-deb --extract "$out/$(package_name)" "$room/deb"
        check_tool "$room/deb/usr/bin/settle"
        check_unit "$room/deb"
    fi
    rm -rf "$room"
    say "the tool of each file works"
    ls -l "$out"
}

# systemd understands each line of the unit, and finds its program.
check_unit() {
    command -v systemd-analyze >/dev/null || { say "the unit is not checked: there is no systemd-analyze here"; return 0; }
    local unit=$1/usr/lib/systemd/system/settle.service
    sed -i "s|=/usr/bin/settle|=$1/usr/bin/settle|" "$unit"
    systemd-analyze verify --man=no "$unit" 2>&1 | grep -F settle.service && fail "systemd does not understand the unit"
    return 0
}

case ${1:-all} in
    stage)
        (($# == 3)) || fail "usage: Scripts/dist.sh stage TOOL FOLDER"
        stage "$2" "$3"
        ;;
    check) check ;;
    all)
        [[ $(uname) == Linux ]] || fail "packages are made on Linux"
        [[ -n $version ]] || fail "there is no version in ProductVersion.swift"
        build
        room=$(mktemp -d)
        trap 'rm -rf "$room"' EXIT
        rm -rf "$out"
        mkdir "$out"
        stage "$tool" "$room/$name"
        pack_tarball "$room"
        if makes_packages; then
            pack_debian "$room"
        else
            say "no Debian package: dpkg-deb and dpkg-shlibdeps of the package dpkg-dev are missing here"
        fi
        (cd "$out" && sha256sum -- settle* >SHA256SUMS)
        check
        ;;
    *) fail "there is no $1; try stage or check, or nothing" ;;
esac
