#!/usr/bin/env bash
# `swift build`, `test`, `run` or `package` in debug, as all scripts call it: Scripts/swift-debug.sh COMMAND ARGUMENTS...
# The compiler leaves the modules of the system out of the index for editors, and of debug information it writes the lines alone.
# That takes a third off its time. The targets in which tests spend their time are optimized, unless SETTLE_OPTIMIZED is 0.
# A build with other flags compiles everything anew, so the scripts share these.
set -euo pipefail
export SETTLE_OPTIMIZED=${SETTLE_OPTIMIZED:-1}
flags=(-Xswiftc -index-ignore-system-modules -Xswiftc -index-ignore-clang-modules -Xswiftc -gline-tables-only)
exec "${SWIFT:-swift}" "$1" "${flags[@]}" "${@:2}"
