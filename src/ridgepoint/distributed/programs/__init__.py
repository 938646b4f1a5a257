"""The programs, each run under MPI: ``mpirun -n 2 python -m ridgepoint.distributed.programs.mlp``.

They know nothing of what measures them, beyond the name of the region that they mark.
"""
