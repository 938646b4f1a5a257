"""Several processes of one MPI job: their machines, their network, their programs.

The only package that imports mpi4py, where it is used: importing this one starts no MPI.
"""
