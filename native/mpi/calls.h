/* SPDX-License-Identifier: Apache-2.0 */
/* Functions with a count, read once for each type that it may have. */

#define TO(count, type, dest, comm) rp_sent_to(thread, dest, comm, (uint64_t)(count) * extent(type))

#define SENDING(name) \
    WRAP(name, (const void *buffer, COUNT count, MPI_Datatype type, int dest, int tag, \
                MPI_Comm comm), \
         (buffer, count, type, dest, tag, comm), TO(count, type, dest, comm))
SENDING(Send)
SENDING(Bsend)
SENDING(Ssend)
SENDING(Rsend)
#undef SENDING

#define SENDING(name) \
    WRAP(name, (const void *buffer, COUNT count, MPI_Datatype type, int dest, int tag, \
                MPI_Comm comm, MPI_Request *request), \
         (buffer, count, type, dest, tag, comm, request), TO(count, type, dest, comm))
SENDING(Isend)
SENDING(Ibsend)
SENDING(Issend)
SENDING(Irsend)
#undef SENDING

#define INITIALISING(name) \
    WRAPPED int NAME(MPI_##name)(const void *buffer, COUNT count, MPI_Datatype type, int dest, \
                                 int tag, MPI_Comm comm, MPI_Request *request) { \
        thread_t *thread = rp_called(CALL_##name); \
        rp_started(thread); \
        int status = NAME(PMPI_##name)(buffer, count, type, dest, tag, comm, request); \
        rp_ended(thread); \
        if (thread && status == MPI_SUCCESS) \
            remember(*request, (uint64_t)count * extent(type), dest, comm); \
        return status; \
    }
INITIALISING(Send_init)
INITIALISING(Bsend_init)
INITIALISING(Ssend_init)
INITIALISING(Rsend_init)
#undef INITIALISING

WRAP(Recv, (void *buffer, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
            MPI_Status *found),
     (buffer, count, type, source, tag, comm, found), (void)0)
WRAP(Irecv, (void *buffer, COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Request *request),
     (buffer, count, type, source, tag, comm, request), (void)0)
WRAP(Mrecv, (void *buffer, COUNT count, MPI_Datatype type, MPI_Message *message,
             MPI_Status *found),
     (buffer, count, type, message, found), (void)0)
WRAP(Imrecv, (void *buffer, COUNT count, MPI_Datatype type, MPI_Message *message,
              MPI_Request *request),
     (buffer, count, type, message, request), (void)0)
WRAP(Sendrecv, (const void *out, COUNT out_count, MPI_Datatype out_type, int dest, int out_tag,
                void *in, COUNT in_count, MPI_Datatype in_type, int source, int in_tag,
                MPI_Comm comm, MPI_Status *found),
     (out, out_count, out_type, dest, out_tag, in, in_count, in_type, source, in_tag, comm, found),
     TO(out_count, out_type, dest, comm))
WRAP(Sendrecv_replace, (void *buffer, COUNT count, MPI_Datatype type, int dest, int out_tag,
                        int source, int in_tag, MPI_Comm comm, MPI_Status *found),
     (buffer, count, type, dest, out_tag, source, in_tag, comm, found),
     TO(count, type, dest, comm))

/* Collectives; `place_t at` is where this rank is. Only what is significant here is looked at. */
#define AT place_t at = place(comm)
#define OTHERS ((uint64_t)(at.size - 1))
#define BYTES(count, type) ((uint64_t)(count) * extent(type))

static uint64_t NAME(sum_of)(const COUNT counts[], int size, MPI_Datatype type) {
    uint64_t sum = 0;
    for (int i = 0; i < size; i++) sum += (uint64_t)counts[i];
    return sum * extent(type);
}

static uint64_t NAME(sum_of_types)(const COUNT counts[], const MPI_Datatype types[], int size) {
    uint64_t sum = 0;
    for (int i = 0; i < size; i++) sum += BYTES(counts[i], types[i]);
    return sum;
}

/* Of groups of two communicators the root has rank MPI_ROOT and its fellows MPI_PROC_NULL. */
#define IS_ROOT (root == at.rank || root == MPI_ROOT)
#define HAS_PART (root != MPI_PROC_NULL)

#define BCAST \
    AT; uint64_t n = BYTES(count, type); \
    if (HAS_PART) rp_bytes(thread, IS_ROOT ? n : 0, IS_ROOT ? 0 : n, \
                           root < 0 ? 0 : n * (uint64_t)children(root, at))
#define REDUCE \
    AT; uint64_t n = BYTES(count, type); \
    if (HAS_PART) rp_bytes(thread, root == MPI_ROOT ? 0 : n, IS_ROOT ? n : 0, IS_ROOT ? 0 : n)
#define ALLREDUCE \
    AT; uint64_t n = BYTES(count, type); \
    rp_bytes(thread, n, n, ring_share(n, at, 2))
#define SCAN \
    AT; uint64_t n = BYTES(count, type); \
    rp_bytes(thread, n, n, at.rank + 1 < at.size ? n : 0)
#define GATHER(all) \
    AT; \
    if (HAS_PART) { \
        uint64_t received = IS_ROOT ? (all) : 0, sent = 0; \
        if (root != MPI_ROOT && out != MPI_IN_PLACE) sent = BYTES(out_count, out_type); \
        rp_bytes(thread, sent, received, IS_ROOT ? 0 : sent); \
    }
#define SCATTER(all, own) \
    AT; \
    if (HAS_PART) { \
        uint64_t sent = IS_ROOT ? (all) : 0, received = 0; \
        if (root != MPI_ROOT && in != MPI_IN_PLACE) received = BYTES(in_count, in_type); \
        rp_bytes(thread, sent, received, IS_ROOT ? sent - (own) : 0); \
    }
#define ALLGATHER \
    AT; uint64_t share = BYTES(in_count, in_type); \
    rp_bytes(thread, out == MPI_IN_PLACE ? share : BYTES(out_count, out_type), \
             share * (uint64_t)at.size, share * OTHERS)
/* In a ring everything passes through a rank but what its successor had. */
#define ALLGATHERV \
    AT; uint64_t all = NAME(sum_of)(in_counts, at.size, in_type); \
    rp_bytes(thread, \
             out == MPI_IN_PLACE ? BYTES(in_counts[at.rank], in_type) : BYTES(out_count, out_type), \
             all, all - BYTES(in_counts[(at.rank + 1) % at.size], in_type))
#define ALLTOALL \
    AT; uint64_t n = out == MPI_IN_PLACE ? BYTES(in_count, in_type) : BYTES(out_count, out_type); \
    rp_bytes(thread, n * (uint64_t)at.size, BYTES(in_count, in_type) * (uint64_t)at.size, \
             n * OTHERS)
#define ALLTOALLV \
    AT; uint64_t received = NAME(sum_of)(in_counts, at.size, in_type); \
    int same = out == MPI_IN_PLACE; \
    uint64_t sent = same ? received : NAME(sum_of)(out_counts, at.size, out_type); \
    uint64_t own = same ? BYTES(in_counts[at.rank], in_type) : BYTES(out_counts[at.rank], out_type); \
    rp_bytes(thread, sent, received, sent - own)
#define ALLTOALLW \
    AT; uint64_t received = NAME(sum_of_types)(in_counts, in_types, at.size); \
    int same = out == MPI_IN_PLACE; \
    uint64_t sent = same ? received : NAME(sum_of_types)(out_counts, out_types, at.size); \
    uint64_t own = same ? BYTES(in_counts[at.rank], in_types[at.rank]) \
                        : BYTES(out_counts[at.rank], out_types[at.rank]); \
    rp_bytes(thread, sent, received, sent - own)
#define REDUCE_SCATTER \
    AT; uint64_t all = NAME(sum_of)(counts, at.size, type); \
    rp_bytes(thread, all, BYTES(counts[at.rank], type), \
             all - BYTES(counts[(at.rank + at.size - 1) % at.size], type))
#define REDUCE_SCATTER_BLOCK \
    AT; uint64_t n = BYTES(count, type); \
    rp_bytes(thread, n * (uint64_t)at.size, n, n * OTHERS)
#define NEIGHBOURS(of_one) \
    int from, to; neighbours(comm, &from, &to); \
    uint64_t n = BYTES(out_count, out_type); \
    rp_bytes(thread, (of_one) ? n : n * (uint64_t)to, BYTES(in_count, in_type) * (uint64_t)from, \
             n * (uint64_t)to)


/* A collective and its twin that does not block. */
#define LIST(...) __VA_ARGS__
#define PAIR(name, twin, parameters, arguments, ...) \
    WRAP(name, (parameters), (arguments), __VA_ARGS__) \
    WRAP(twin, (parameters, MPI_Request *request), (arguments, request), __VA_ARGS__)

PAIR(Bcast, Ibcast,
     LIST(void *buffer, COUNT count, MPI_Datatype type, int root, MPI_Comm comm),
     LIST(buffer, count, type, root, comm), BCAST)
PAIR(Reduce, Ireduce,
     LIST(const void *out, void *in, COUNT count, MPI_Datatype type, MPI_Op op, int root,
          MPI_Comm comm),
     LIST(out, in, count, type, op, root, comm), REDUCE)
PAIR(Allreduce, Iallreduce,
     LIST(const void *out, void *in, COUNT count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     LIST(out, in, count, type, op, comm), ALLREDUCE)
PAIR(Scan, Iscan,
     LIST(const void *out, void *in, COUNT count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     LIST(out, in, count, type, op, comm), SCAN)
PAIR(Exscan, Iexscan,
     LIST(const void *out, void *in, COUNT count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     LIST(out, in, count, type, op, comm), SCAN)
PAIR(Gather, Igather,
     LIST(const void *out, COUNT out_count, MPI_Datatype out_type, void *in, COUNT in_count,
          MPI_Datatype in_type, int root, MPI_Comm comm),
     LIST(out, out_count, out_type, in, in_count, in_type, root, comm),
     GATHER(BYTES(in_count, in_type) * (uint64_t)at.size))
PAIR(Gatherv, Igatherv,
     LIST(const void *out, COUNT out_count, MPI_Datatype out_type, void *in,
          const COUNT in_counts[], const DISPLACEMENT places[], MPI_Datatype in_type, int root,
          MPI_Comm comm),
     LIST(out, out_count, out_type, in, in_counts, places, in_type, root, comm),
     GATHER(NAME(sum_of)(in_counts, at.size, in_type)))
PAIR(Scatter, Iscatter,
     LIST(const void *out, COUNT out_count, MPI_Datatype out_type, void *in, COUNT in_count,
          MPI_Datatype in_type, int root, MPI_Comm comm),
     LIST(out, out_count, out_type, in, in_count, in_type, root, comm),
     SCATTER(BYTES(out_count, out_type) * (uint64_t)at.size,
             root == MPI_ROOT ? 0 : BYTES(out_count, out_type)))
PAIR(Scatterv, Iscatterv,
     LIST(const void *out, const COUNT out_counts[], const DISPLACEMENT places[],
          MPI_Datatype out_type, void *in, COUNT in_count, MPI_Datatype in_type, int root,
          MPI_Comm comm),
     LIST(out, out_counts, places, out_type, in, in_count, in_type, root, comm),
     SCATTER(NAME(sum_of)(out_counts, at.size, out_type),
             root == MPI_ROOT ? 0 : BYTES(out_counts[at.rank], out_type)))
PAIR(Allgather, Iallgather,
     LIST(const void *out, COUNT out_count, MPI_Datatype out_type, void *in, COUNT in_count,
          MPI_Datatype in_type, MPI_Comm comm),
     LIST(out, out_count, out_type, in, in_count, in_type, comm), ALLGATHER)
PAIR(Allgatherv, Iallgatherv,
     LIST(const void *out, COUNT out_count, MPI_Datatype out_type, void *in,
          const COUNT in_counts[], const DISPLACEMENT places[], MPI_Datatype in_type,
          MPI_Comm comm),
     LIST(out, out_count, out_type, in, in_counts, places, in_type, comm), ALLGATHERV)
PAIR(Alltoall, Ialltoall,
     LIST(const void *out, COUNT out_count, MPI_Datatype out_type, void *in, COUNT in_count,
          MPI_Datatype in_type, MPI_Comm comm),
     LIST(out, out_count, out_type, in, in_count, in_type, comm), ALLTOALL)
PAIR(Alltoallv, Ialltoallv,
     LIST(const void *out, const COUNT out_counts[], const DISPLACEMENT out_places[],
          MPI_Datatype out_type, void *in, const COUNT in_counts[],
          const DISPLACEMENT in_places[], MPI_Datatype in_type, MPI_Comm comm),
     LIST(out, out_counts, out_places, out_type, in, in_counts, in_places, in_type, comm),
     ALLTOALLV)
PAIR(Alltoallw, Ialltoallw,
     LIST(const void *out, const COUNT out_counts[], const DISPLACEMENT out_places[],
          const MPI_Datatype out_types[], void *in, const COUNT in_counts[],
          const DISPLACEMENT in_places[], const MPI_Datatype in_types[], MPI_Comm comm),
     LIST(out, out_counts, out_places, out_types, in, in_counts, in_places, in_types, comm),
     ALLTOALLW)
PAIR(Reduce_scatter, Ireduce_scatter,
     LIST(const void *out, void *in, const COUNT counts[], MPI_Datatype type, MPI_Op op,
          MPI_Comm comm),
     LIST(out, in, counts, type, op, comm), REDUCE_SCATTER)
PAIR(Reduce_scatter_block, Ireduce_scatter_block,
     LIST(const void *out, void *in, COUNT count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     LIST(out, in, count, type, op, comm), REDUCE_SCATTER_BLOCK)
PAIR(Neighbor_allgather, Ineighbor_allgather,
     LIST(const void *out, COUNT out_count, MPI_Datatype out_type, void *in, COUNT in_count,
          MPI_Datatype in_type, MPI_Comm comm),
     LIST(out, out_count, out_type, in, in_count, in_type, comm), NEIGHBOURS(1))
PAIR(Neighbor_alltoall, Ineighbor_alltoall,
     LIST(const void *out, COUNT out_count, MPI_Datatype out_type, void *in, COUNT in_count,
          MPI_Datatype in_type, MPI_Comm comm),
     LIST(out, out_count, out_type, in, in_count, in_type, comm), NEIGHBOURS(0))

/* One-sided: what a rank puts it sends, what it gets it receives. */
#define ONE_SIDED(name, constant, sent, received, more, passed) \
    WRAP(name, (constant void *buffer, COUNT count, MPI_Datatype type, int target, \
                MPI_Aint place, COUNT target_count, MPI_Datatype target_type more, MPI_Win win), \
         (buffer, count, type, target, place, target_count, target_type passed, win), \
         rp_bytes(thread, sent, received, 0))
ONE_SIDED(Put, const, BYTES(count, type), 0, , )
ONE_SIDED(Get, , 0, BYTES(count, type), , )
ONE_SIDED(Accumulate, const, BYTES(count, type), 0, LIST(, MPI_Op op), LIST(, op))
#undef ONE_SIDED

#define READING(name, constant) \
    WRAP(name, (MPI_File file, constant void *buffer, COUNT count, MPI_Datatype type, \
                MPI_Status *found), \
         (file, buffer, count, type, found), (void)0)
READING(File_read_all, )
READING(File_write_all, const)
#undef READING
#define READING(name, constant) \
    WRAP(name, (MPI_File file, MPI_Offset offset, constant void *buffer, COUNT count, \
                MPI_Datatype type, MPI_Status *found), \
         (file, offset, buffer, count, type, found), (void)0)
READING(File_read_at, )
READING(File_read_at_all, )
READING(File_write_at, const)
READING(File_write_at_all, const)
#undef READING

#undef TO
#undef AT
#undef OTHERS
#undef BYTES
#undef IS_ROOT
#undef HAS_PART
#undef BCAST
#undef REDUCE
#undef ALLREDUCE
#undef SCAN
#undef GATHER
#undef SCATTER
#undef ALLGATHER
#undef ALLGATHERV
#undef ALLTOALL
#undef ALLTOALLV
#undef ALLTOALLW
#undef REDUCE_SCATTER
#undef REDUCE_SCATTER_BLOCK
#undef NEIGHBOURS
#undef LIST
#undef PAIR
