/* SPDX-License-Identifier: Apache-2.0 */
/** @file calls_refused.c
 *  @brief Calls that are refused on a persistent communicator, with a message that names them. Calls unknown to this library
 *  bypass the store. */
#include "resilience/persist/persist_impl.h"

const char gab_persist_calls_refused = 0;

#define REFUSE(name, comm, parameters, arguments)                                                            \
  int MPI_##name parameters                                                                                  \
  {                                                                                                          \
    persist_session *session = persist_of(comm);                                                             \
    return session ? gab_persist_unsupported(session, "MPI_" #name) : PMPI_##name arguments;                 \
  }

/* Requests that are started again and again, matched probes, partitions. */
REFUSE(Send_init, comm,
       (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
        MPI_Request *request),
       (buf, count, datatype, dest, tag, comm, request))
REFUSE(Bsend_init, comm,
       (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
        MPI_Request *request),
       (buf, count, datatype, dest, tag, comm, request))
REFUSE(Ssend_init, comm,
       (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
        MPI_Request *request),
       (buf, count, datatype, dest, tag, comm, request))
REFUSE(Rsend_init, comm,
       (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
        MPI_Request *request),
       (buf, count, datatype, dest, tag, comm, request))
REFUSE(Recv_init, comm,
       (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
        MPI_Request *request),
       (buf, count, datatype, source, tag, comm, request))
REFUSE(Mprobe, comm, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status),
       (source, tag, comm, message, status))
REFUSE(Improbe, comm,
       (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status),
       (source, tag, comm, flag, message, status))
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
REFUSE(Isendrecv, comm,
       (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
        int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request),
       (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm,
        request))
REFUSE(Isendrecv_replace, comm,
       (void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
        MPI_Comm comm, MPI_Request *request),
       (buf, count, datatype, dest, sendtag, source, recvtag, comm, request))
REFUSE(Psend_init, comm,
       (const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
        MPI_Comm comm, MPI_Info info, MPI_Request *request),
       (buf, partitions, count, datatype, dest, tag, comm, info, request))
REFUSE(Precv_init, comm,
       (void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
        MPI_Info info, MPI_Request *request),
       (buf, partitions, count, datatype, source, tag, comm, info, request))
#endif

/* Communicators that would come from a persistent one, and would not be persistent. */
REFUSE(Comm_dup, comm, (MPI_Comm comm, MPI_Comm *newcomm), (comm, newcomm))
REFUSE(Comm_idup, comm, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request), (comm, newcomm, request))
REFUSE(Comm_dup_with_info, comm, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm), (comm, info, newcomm))
REFUSE(Comm_split, comm, (MPI_Comm comm, int color, int key, MPI_Comm *newcomm), (comm, color, key, newcomm))
REFUSE(Comm_split_type, comm, (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm),
       (comm, split_type, key, info, newcomm))
REFUSE(Comm_create, comm, (MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm), (comm, group, newcomm))
REFUSE(Comm_create_group, comm, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm),
       (comm, group, tag, newcomm))
REFUSE(Cart_create, old_comm,
       (MPI_Comm old_comm, int ndims, const int dims[], const int periods[], int reorder,
        MPI_Comm *comm_cart),
       (old_comm, ndims, dims, periods, reorder, comm_cart))
REFUSE(Graph_create, comm_old,
       (MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int reorder,
        MPI_Comm *comm_graph),
       (comm_old, nnodes, index, edges, reorder, comm_graph))
REFUSE(Dist_graph_create, comm_old,
       (MPI_Comm comm_old, int n, const int nodes[], const int degrees[], const int targets[],
        const int weights[], MPI_Info info, int reorder, MPI_Comm *newcomm),
       (comm_old, n, nodes, degrees, targets, weights, info, reorder, newcomm))
REFUSE(Dist_graph_create_adjacent, comm_old,
       (MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[], int outdegree,
        const int destinations[], const int destweights[], MPI_Info info, int reorder,
        MPI_Comm *comm_dist_graph),
       (comm_old, indegree, sources, sourceweights, outdegree, destinations, destweights, info, reorder,
        comm_dist_graph))
REFUSE(Intercomm_create, local_comm,
       (MPI_Comm local_comm, int local_leader, MPI_Comm bridge_comm, int remote_leader, int tag,
        MPI_Comm *newintercomm),
       (local_comm, local_leader, bridge_comm, remote_leader, tag, newintercomm))
REFUSE(Comm_spawn, comm,
       (const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
        MPI_Comm *intercomm, int array_of_errcodes[]),
       (command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes))
REFUSE(Comm_spawn_multiple, comm,
       (int count, char *array_of_commands[], char **array_of_argv[], const int array_of_maxprocs[],
        const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm *intercomm,
        int array_of_errcodes[]),
       (count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info, root, comm, intercomm,
        array_of_errcodes))
REFUSE(Comm_accept, comm, (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm),
       (port_name, info, root, comm, newcomm))
REFUSE(Comm_connect, comm, (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm),
       (port_name, info, root, comm, newcomm))
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
REFUSE(Comm_idup_with_info, comm, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request),
       (comm, info, newcomm, request))
#endif

/* Windows and files. */
REFUSE(Win_create, comm,
       (void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
       (base, size, disp_unit, info, comm, win))
REFUSE(Win_allocate, comm,
       (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win),
       (size, disp_unit, info, comm, baseptr, win))
REFUSE(Win_allocate_shared, comm,
       (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win),
       (size, disp_unit, info, comm, baseptr, win))
REFUSE(Win_create_dynamic, comm, (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win))
REFUSE(File_open, comm, (MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh),
       (comm, filename, amode, info, fh))
