"""The programs, each run under MPI.

For example ``mpirun -n 2 python -m ridgepoint.suites.distributed.programs.mlp``.

They know nothing of what measures them, beyond the name of the region that they mark.
"""
