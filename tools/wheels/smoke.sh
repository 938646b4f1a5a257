#!/bin/sh
# Installs the wheels of a folder as a user does, without a compiler and without Valgrind, and uses
# them: smoke.sh FOLDER [PYTHON]. All of it happens in a new folder that is removed afterwards.
# Dependencies come from the folder if they are there too, and else from the package index.
set -eu
wheels=$(cd "$1" && pwd)
python=$(command -v "${2:-python3}") || { echo "smoke: there is no ${2:-python3}" >&2; exit 2; }

fail() { echo "smoke: $*" >&2; exit 1; }
say() { echo "smoke: $*"; }

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
trap 'exit 130' INT TERM

main=
engine=
for file in "$wheels"/ridgepoint-[0-9]*.whl "$wheels"/ridgepoint_engine-[0-9]*.whl; do
    [ -e "$file" ] || continue
    case ${file##*/} in
        ridgepoint-*) [ -z "$main" ] || fail "two wheels of ridgepoint in $wheels"; main=$file ;;
        *) [ -z "$engine" ] || fail "two wheels of ridgepoint-engine in $wheels"; engine=$file ;;
    esac
done
[ -n "$main" ] || fail "no wheel of ridgepoint in $wheels"
[ -n "$engine" ] || fail "no wheel of ridgepoint-engine in $wheels"

# The system's programs, without what compiles, and without its Valgrind.
mkdir "$place/bin" "$place/home" "$place/tmp"
for folder in /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin; do
    for program in "$folder"/*; do
        name=${program##*/}
        case $name in
            *gcc* | *g++* | *clang* | cc | cc-* | c++ | c++-* | c8? | c89-* | c99-* | tcc | cpp | cpp-*) ;;
            *-ld | ld | ld.* | as | *-as | *-cpp* | zig | valgrind* | callgrind* | *valgrind*) ;;
            *) [ -e "$place/bin/$name" ] || ln -s "$program" "$place/bin/$name" ;;
        esac
    done
done
"$python" -m venv "$place/venv"

# Nothing of the caller's environment but the way to the package index.
run() {
    env -i PATH="$place/venv/bin:$place/bin" HOME="$place/home" TMPDIR="$place/tmp" LC_ALL=C.UTF-8 \
        ${PIP_INDEX_URL+"PIP_INDEX_URL=$PIP_INDEX_URL"} ${https_proxy+"https_proxy=$https_proxy"} \
        ${PIP_CERT+"PIP_CERT=$PIP_CERT"} ${PIP_CONFIG_FILE+"PIP_CONFIG_FILE=$PIP_CONFIG_FILE"} \
        "$@"
}
cd "$place/home"
for compiler in cc gcc clang c++ g++ valgrind; do
    if run sh -c "command -v $compiler" >/dev/null; then fail "$compiler is still there"; fi
done

began=$(date +%s)
run pip install --quiet --disable-pip-version-check --find-links "$wheels" "$main" "$engine"
installed=$(date +%s)
say "installed in $((installed - began)) s"

version=${main##*/ridgepoint-}
version=${version%%-*}
[ "$(run ridgepoint --version)" = "ridgepoint, version $version" ] ||
    fail "the wheel has version $version, and it says: $(run ridgepoint --version)"
say "version $version"

run seq 200000 >numbers
run ridgepoint run --json -- sort -n numbers >run.json
run python - run.json <<'PYTHON' || fail "the first run gave no verdict"
import json, sys

run = json.load(open(sys.argv[1]))
print(f"smoke: {run['bound']['limiter']}, {run['instructions']['total']} instructions by {run['meter']}")
PYTHON
say "from pip install to the first verdict: $(($(date +%s) - began)) s"
run ridgepoint run --meter engine --counts-only --json -- sort -n numbers >engine.json
say "counted by Valgrind's engine"

# What was compiled here would be kept there, with a file that says that it is whole.
built=$(find "$place/home/.cache" -name .complete 2>/dev/null || true)
[ -z "$built" ] || fail "something had to be built: $built"

run ridgepoint doctor
run ridgepoint doctor --selftest >selftest.txt || { cat selftest.txt; fail "the self-test failed"; }
tail -16 selftest.txt
say "all is well, after $(($(date +%s) - began)) s"
