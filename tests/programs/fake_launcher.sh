#!/bin/sh
# Starts COMMAND as ranks, as a launcher of MPI does: each is told its number, and when one fails
# the others are ended. Usage: fake_launcher.sh RANKS COMMAND...
n=$1; shift
exec 7</dev/null  # as MPICH's, which speaks to its ranks through a descriptor
export PMI_FD=7
size=${FAKE_SIZE:-$n}
pids=
rank=0
trap 'kill $pids 2>/dev/null; exit 143' TERM
while [ "$rank" -lt "$n" ]; do
    OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=$size OMPI_COMM_WORLD_LOCAL_RANK=$rank \
        OMPI_COMM_WORLD_LOCAL_SIZE=$size "$@" &
    pids="$pids $!"
    rank=$((rank + 1))
done
status=0
for pid in $pids; do
    wait "$pid" || { status=$?; kill $pids 2>/dev/null; }
done
exit $status
