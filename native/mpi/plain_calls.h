/* SPDX-License-Identifier: Apache-2.0 */
/* Functions without a count. */

WRAP(Barrier, (MPI_Comm comm), (comm), (void)0)
WRAP(Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request), (void)0)

WRAP(Start, (MPI_Request *request), (request), count_started(thread, *request))
WRAP(Startall, (int count, MPI_Request requests[]), (count, requests),
     for (int i = 0; i < count; i++) count_started(thread, requests[i]))

WRAPPED int MPI_Request_free(MPI_Request *request) {
    forget_request(*request);
    return PMPI_Request_free(request);
}

WRAP(Wait, (MPI_Request *request, MPI_Status *found), (request, found), (void)0)
WRAP(Waitall, (int count, MPI_Request requests[], MPI_Status found[]), (count, requests, found),
     (void)0)
WRAP(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *found),
     (count, requests, index, found), (void)0)
WRAP(Waitsome, (int count, MPI_Request requests[], int *done, int indices[], MPI_Status found[]),
     (count, requests, done, indices, found), (void)0)
WRAP(Test, (MPI_Request *request, int *done, MPI_Status *found), (request, done, found), (void)0)
WRAP(Testall, (int count, MPI_Request requests[], int *done, MPI_Status found[]),
     (count, requests, done, found), (void)0)
WRAP(Testany, (int count, MPI_Request requests[], int *index, int *done, MPI_Status *found),
     (count, requests, index, done, found), (void)0)
WRAP(Testsome, (int count, MPI_Request requests[], int *done, int indices[], MPI_Status found[]),
     (count, requests, done, indices, found), (void)0)
WRAP(Probe, (int source, int tag, MPI_Comm comm, MPI_Status *found), (source, tag, comm, found),
     (void)0)
WRAP(Iprobe, (int source, int tag, MPI_Comm comm, int *there, MPI_Status *found),
     (source, tag, comm, there, found), (void)0)
WRAP(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *found),
     (source, tag, comm, message, found), (void)0)
WRAP(Improbe, (int source, int tag, MPI_Comm comm, int *there, MPI_Message *message,
               MPI_Status *found),
     (source, tag, comm, there, message, found), (void)0)

WRAP(Win_create, (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
     (base, size, unit, info, comm, win), (void)0)
WRAP(Win_allocate, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
                    MPI_Win *win),
     (size, unit, info, comm, base, win), (void)0)
WRAP(Win_free, (MPI_Win *win), (win), (void)0)
WRAP(Win_fence, (int assertion, MPI_Win win), (assertion, win), (void)0)
WRAP(Win_lock, (int kind, int rank, int assertion, MPI_Win win), (kind, rank, assertion, win),
     (void)0)
WRAP(Win_unlock, (int rank, MPI_Win win), (rank, win), (void)0)
WRAP(Win_lock_all, (int assertion, MPI_Win win), (assertion, win), (void)0)
WRAP(Win_unlock_all, (MPI_Win win), (win), (void)0)
WRAP(Win_flush, (int rank, MPI_Win win), (rank, win), (void)0)
WRAP(Win_flush_all, (MPI_Win win), (win), (void)0)
WRAP(Win_post, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win), (void)0)
WRAP(Win_start, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win), (void)0)
WRAP(Win_complete, (MPI_Win win), (win), (void)0)
WRAP(Win_wait, (MPI_Win win), (win), (void)0)

WRAP(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made), (void)0)
WRAP(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made),
     (void)0)
WRAP(Comm_split_type, (MPI_Comm comm, int kind, int key, MPI_Info info, MPI_Comm *made),
     (comm, kind, key, info, made), (void)0)
WRAP(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made), (void)0)
WRAP(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
     (comm, group, tag, made), (void)0)
WRAP(Comm_free, (MPI_Comm *comm), (comm), (void)0)
WRAP(Cart_create, (MPI_Comm comm, int dimensions, const int sizes[], const int periods[],
                   int reorder, MPI_Comm *made),
     (comm, dimensions, sizes, periods, reorder, made), (void)0)
WRAP(Dist_graph_create_adjacent,
     (MPI_Comm comm, int in, const int sources[], const int in_weights[], int out,
      const int targets[], const int out_weights[], MPI_Info info, int reorder, MPI_Comm *made),
     (comm, in, sources, in_weights, out, targets, out_weights, info, reorder, made), (void)0)
WRAP(File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file),
     (comm, name, mode, info, file), (void)0)
WRAP(File_close, (MPI_File *file), (file), (void)0)
