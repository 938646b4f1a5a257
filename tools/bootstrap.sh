#!/bin/sh
# Installs what Ridgepoint needs into a virtual environment: bootstrap.sh FOLDER [browser].
# System packages are installed as root or by sudo; otherwise this says what is missing.
# With "browser" also Debian's Chromium, in which tests open pages; without it they are skipped.
set -eu
venv=$1

fail() { echo "bootstrap: $*" >&2; exit 2; }

python=
for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || fail "Python 3.11 or later is needed: apt-get install python3 (Debian 12, Ubuntu 24.04 or later)"

missing=
command -v valgrind >/dev/null || missing="$missing valgrind"
command -v gcc >/dev/null && echo 'int main(void){return 0;}' | gcc -x c - -o /dev/null 2>/dev/null ||
    missing="$missing gcc libc6-dev"
# Basic operations are counted from source by clang; the datacenter workloads are C++.
command -v clang >/dev/null || command -v clang-14 >/dev/null || missing="$missing clang"
command -v g++ >/dev/null || missing="$missing g++"
"$python" -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
install() {
    if ! command -v apt-get >/dev/null; then
        echo "bootstrap: install these with your system's package manager, then try again: $*" >&2
        return 2
    elif [ "$(id -u)" = 0 ]; then
        apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        sudo apt-get update && sudo DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
    else
        echo "bootstrap: these system packages are missing; install them, then try again: sudo apt-get install $*" >&2
        return 2
    fi
}

if [ -n "$missing" ]; then
    install $missing
fi
if [ "${2-}" = browser ] && ! { command -v chromium && command -v chromedriver; } >/dev/null; then
    install chromium chromium-driver || echo "bootstrap: no Chromium: the tests in a browser are skipped" >&2
fi

[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
