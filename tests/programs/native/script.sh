#!/bin/sh
# A script that processes.c becomes.
echo "script with $# arguments: $*"
exit 14
