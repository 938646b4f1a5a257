/* MPI's Fortran bindings as Open MPI makes them, as far as mpi_fortran.f90 needs them: each name
 * of MPI_ is weak, stands for that of PMPI_, and calls PMPI_ functions of C. */
#include <mpi.h>

#define F MPI_Fint *
#define BINDING(name, parameters) \
    void mpi_##name##_ parameters __attribute__((weak, alias("pmpi_" #name "_"))); \
    void pmpi_##name##_ parameters
#define COMM PMPI_Comm_f2c(*comm)
#define TYPE(type) PMPI_Type_f2c(*(type))

void handles_(F world, F doubles, F integers, F sum) {
    *world = PMPI_Comm_c2f(MPI_COMM_WORLD);
    *doubles = PMPI_Type_c2f(MPI_DOUBLE);
    *integers = PMPI_Type_c2f(MPI_INT);
    *sum = PMPI_Op_c2f(MPI_SUM);
}

BINDING(init, (F error)) { *error = PMPI_Init(NULL, NULL); }
BINDING(finalize, (F error)) { *error = PMPI_Finalize(); }
BINDING(comm_rank, (F comm, F rank, F error)) { *error = PMPI_Comm_rank(COMM, rank); }
BINDING(comm_size, (F comm, F size, F error)) { *error = PMPI_Comm_size(COMM, size); }
BINDING(sendrecv, (void *out, F count, F type, F dest, F tag, void *in, F in_count, F in_type,
                   F source, F in_tag, F comm, F found, F error)) {
    (void)found;
    *error = PMPI_Sendrecv(out, *count, TYPE(type), *dest, *tag, in, *in_count, TYPE(in_type),
                           *source, *in_tag, COMM, MPI_STATUS_IGNORE);
}
BINDING(isend, (void *out, F count, F type, F dest, F tag, F comm, F request, F error)) {
    MPI_Request made;
    *error = PMPI_Isend(out, *count, TYPE(type), *dest, *tag, COMM, &made);
    *request = PMPI_Request_c2f(made);
}
BINDING(recv, (void *in, F count, F type, F source, F tag, F comm, F found, F error)) {
    (void)found;
    *error = PMPI_Recv(in, *count, TYPE(type), *source, *tag, COMM, MPI_STATUS_IGNORE);
}
BINDING(wait, (F request, F found, F error)) {
    MPI_Request made = PMPI_Request_f2c(*request);
    (void)found;
    *error = PMPI_Wait(&made, MPI_STATUS_IGNORE);
}
BINDING(bcast, (void *data, F count, F type, F root, F comm, F error)) {
    *error = PMPI_Bcast(data, *count, TYPE(type), *root, COMM);
}
BINDING(allreduce, (void *out, void *in, F count, F type, F op, F comm, F error)) {
    *error = PMPI_Allreduce(out, in, *count, TYPE(type), PMPI_Op_f2c(*op), COMM);
}
