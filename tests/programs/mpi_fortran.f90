! Three messages of 100 doubles to the right, one of 50 integers by MPI_Isend, and collectives.
program ring
  implicit none
  integer :: rank, ranks, error, step, request, world, doubles, integers, sum_of
  integer :: numbers(50), other(50), found(64)
  real(8) :: out(100), in(100)
  call mpi_init(error)
  call handles(world, doubles, integers, sum_of)
  call mpi_comm_rank(world, rank, error)
  call mpi_comm_size(world, ranks, error)
  out = rank
  numbers = rank
  do step = 1, 3
    call mpi_sendrecv(out, 100, doubles, modulo(rank + 1, ranks), 0, &
                      in, 100, doubles, modulo(rank - 1, ranks), 0, world, found, error)
  end do
  call mpi_isend(numbers, 50, integers, modulo(rank + 1, ranks), 1, world, request, error)
  call mpi_recv(other, 50, integers, modulo(rank - 1, ranks), 1, world, found, error)
  call mpi_wait(request, found, error)
  call mpi_bcast(in, 100, doubles, 0, world, error)
  call mpi_allreduce(out, in, 100, doubles, sum_of, world, error)
  call mpi_finalize(error)
end program
