#!/bin/sh
# Measures this machine and two real programs, and leaves figures and reports in demo/.
set -eu
ridgepoint=$PWD/.venv/bin/ridgepoint
mkdir -p demo
gcc -O3 -march=x86-64-v3 -o demo/heat examples/heat.c -lm
gcc -O3 -march=x86-64-v3 -o demo/matmul examples/matmul.c

say() { printf '\n== %s\n' "$*"; }

say "what can be measured here"
"$ridgepoint" doctor
say "this machine's ceilings: demo/machine.json, demo/machine.svg"
"$ridgepoint" machine -o demo/machine.svg
"$ridgepoint" show --json >demo/machine.json
say "a heat equation, memory-bound: demo/heat.svg, demo/heat.png, demo/heat.json"
"$ridgepoint" run -o demo/heat.svg -o demo/heat.png -o demo/heat.json -- demo/heat 2000 60
say "a matrix product, not memory-bound: demo/matmul.svg"
"$ridgepoint" run --no-plot -o demo/matmul.svg -o demo/matmul.png -- demo/matmul 512
say "the heat equation on other caches, and its working sets: demo/heat-caches.svg"
"$ridgepoint" run --no-plot --counts-only --miss-curve --what-if l1=48k:12,l2=1m:16,l3=96m:16 -- demo/heat 2000 10
"$ridgepoint" plot --miss-curve -o demo/heat-caches.svg -o demo/heat-caches.png
say "is all of this to be believed here?"
"$ridgepoint" doctor --selftest >demo/selftest.txt
tail -16 demo/selftest.txt
say "what was kept"
"$ridgepoint" list
say "done: look at demo/*.svg and demo/*.png"
ls -l demo
