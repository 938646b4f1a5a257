#!/bin/sh
# usage: ocaml.sh SOURCE FOLDER PROGRAM: ocamlopt leaves files beside the source.
set -e
cp "$1" "$2/"
cd "$2"
ocamlopt -O3 "$(basename "$1")" -o "$3"
