/* Stands in for Open MPI 1.10 in a program of one process: enough for libraries that are linked against it.
 *
 * The one source is both libmpi and libmpi_cxx. What a lone process may ask is answered: it is rank 0 of 1.
 * Everything else is there only so that the libraries load; whoever calls it is told so and stopped.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Handles are addresses of the library's own objects. Nobody looks inside them; they only must differ. */
#define OBJECT(name) char name[512];

#define ABSENT(name) \
    int name(void) \
    { \
        fprintf(stderr, "%s: this is not Open MPI but a stand-in for programs of one process\n", #name); \
        abort(); \
    }

OBJECT(ompi_mpi_char)
OBJECT(ompi_mpi_comm_null)
OBJECT(ompi_mpi_comm_world)
OBJECT(ompi_mpi_double)
OBJECT(ompi_mpi_float)
OBJECT(ompi_mpi_int)
OBJECT(ompi_mpi_long_long_int)
OBJECT(ompi_mpi_op_sum)

static int initialized = 0;

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc, (void)argv;
    *provided = required;
    initialized = 1;
    return 0;
}

int MPI_Initialized(int *flag)
{
    *flag = initialized;
    return 0;
}

int MPI_Finalize(void)
{
    return 0;
}

int MPI_Abort(void *communicator, int code)
{
    (void)communicator;
    exit(code);
}

int MPI_Comm_rank(void *communicator, int *rank)
{
    (void)communicator;
    *rank = 0;
    return 0;
}

int MPI_Comm_size(void *communicator, int *size)
{
    (void)communicator;
    *size = 1;
    return 0;
}

int MPI_Get_processor_name(char *name, int *length)
{
    strcpy(name, "localhost");
    *length = (int)strlen(name);
    return 0;
}

int MPI_Barrier(void *communicator)
{
    (void)communicator;
    return 0;
}

/* MPI::Comm::Comm() by the name that a C++ compiler gives it; a constructor with nothing to construct. */
void _ZN3MPI4CommC2Ev(void *self)
{
    (void)self;
}

ABSENT(MPI_Accumulate)
ABSENT(MPI_Allgather)
ABSENT(MPI_Allgatherv)
ABSENT(MPI_Allreduce)
ABSENT(MPI_Alltoall)
ABSENT(MPI_Alltoallv)
ABSENT(MPI_Alltoallw)
ABSENT(MPI_Bcast)
ABSENT(MPI_Bsend)
ABSENT(MPI_Bsend_init)
ABSENT(MPI_Cancel)
ABSENT(MPI_Cart_coords)
ABSENT(MPI_Cart_create)
ABSENT(MPI_Cart_get)
ABSENT(MPI_Cart_map)
ABSENT(MPI_Cart_rank)
ABSENT(MPI_Cart_shift)
ABSENT(MPI_Cart_sub)
ABSENT(MPI_Cartdim_get)
ABSENT(MPI_Comm_accept)
ABSENT(MPI_Comm_connect)
ABSENT(MPI_Comm_create)
ABSENT(MPI_Comm_delete_attr)
ABSENT(MPI_Comm_disconnect)
ABSENT(MPI_Comm_dup)
ABSENT(MPI_Comm_free)
ABSENT(MPI_Comm_get_attr)
ABSENT(MPI_Comm_get_errhandler)
ABSENT(MPI_Comm_get_name)
ABSENT(MPI_Comm_group)
ABSENT(MPI_Comm_remote_group)
ABSENT(MPI_Comm_remote_size)
ABSENT(MPI_Comm_set_attr)
ABSENT(MPI_Comm_set_errhandler)
ABSENT(MPI_Comm_set_name)
ABSENT(MPI_Comm_spawn)
ABSENT(MPI_Comm_spawn_multiple)
ABSENT(MPI_Comm_split)
ABSENT(MPI_Comm_test_inter)
ABSENT(MPI_Errhandler_free)
ABSENT(MPI_Error_string)
ABSENT(MPI_Exscan)
ABSENT(MPI_Gather)
ABSENT(MPI_Gatherv)
ABSENT(MPI_Get)
ABSENT(MPI_Get_count)
ABSENT(MPI_Get_elements)
ABSENT(MPI_Graph_create)
ABSENT(MPI_Graph_get)
ABSENT(MPI_Graph_map)
ABSENT(MPI_Graph_neighbors)
ABSENT(MPI_Graph_neighbors_count)
ABSENT(MPI_Graphdims_get)
ABSENT(MPI_Grequest_complete)
ABSENT(MPI_Group_excl)
ABSENT(MPI_Group_free)
ABSENT(MPI_Group_incl)
ABSENT(MPI_Group_range_excl)
ABSENT(MPI_Group_range_incl)
ABSENT(MPI_Group_rank)
ABSENT(MPI_Group_size)
ABSENT(MPI_Iallgather)
ABSENT(MPI_Iallreduce)
ABSENT(MPI_Ibsend)
ABSENT(MPI_Info_delete)
ABSENT(MPI_Info_dup)
ABSENT(MPI_Info_free)
ABSENT(MPI_Info_get)
ABSENT(MPI_Info_get_nkeys)
ABSENT(MPI_Info_get_nthkey)
ABSENT(MPI_Info_get_valuelen)
ABSENT(MPI_Info_set)
ABSENT(MPI_Intercomm_create)
ABSENT(MPI_Intercomm_merge)
ABSENT(MPI_Iprobe)
ABSENT(MPI_Irecv)
ABSENT(MPI_Irsend)
ABSENT(MPI_Isend)
ABSENT(MPI_Issend)
ABSENT(MPI_Op_commutative)
ABSENT(MPI_Op_create)
ABSENT(MPI_Op_free)
ABSENT(MPI_Pack)
ABSENT(MPI_Pack_external)
ABSENT(MPI_Pack_external_size)
ABSENT(MPI_Pack_size)
ABSENT(MPI_Probe)
ABSENT(MPI_Put)
ABSENT(MPI_Recv)
ABSENT(MPI_Recv_init)
ABSENT(MPI_Reduce)
ABSENT(MPI_Reduce_local)
ABSENT(MPI_Reduce_scatter)
ABSENT(MPI_Request_free)
ABSENT(MPI_Request_get_status)
ABSENT(MPI_Rsend)
ABSENT(MPI_Rsend_init)
ABSENT(MPI_Scan)
ABSENT(MPI_Scatter)
ABSENT(MPI_Scatterv)
ABSENT(MPI_Send)
ABSENT(MPI_Send_init)
ABSENT(MPI_Sendrecv)
ABSENT(MPI_Sendrecv_replace)
ABSENT(MPI_Ssend)
ABSENT(MPI_Ssend_init)
ABSENT(MPI_Start)
ABSENT(MPI_Status_set_cancelled)
ABSENT(MPI_Status_set_elements)
ABSENT(MPI_Test)
ABSENT(MPI_Test_cancelled)
ABSENT(MPI_Topo_test)
ABSENT(MPI_Type_commit)
ABSENT(MPI_Type_contiguous)
ABSENT(MPI_Type_create_darray)
ABSENT(MPI_Type_create_hindexed)
ABSENT(MPI_Type_create_hvector)
ABSENT(MPI_Type_create_indexed_block)
ABSENT(MPI_Type_create_resized)
ABSENT(MPI_Type_create_subarray)
ABSENT(MPI_Type_delete_attr)
ABSENT(MPI_Type_dup)
ABSENT(MPI_Type_get_attr)
ABSENT(MPI_Type_get_contents)
ABSENT(MPI_Type_get_envelope)
ABSENT(MPI_Type_get_extent)
ABSENT(MPI_Type_get_name)
ABSENT(MPI_Type_get_true_extent)
ABSENT(MPI_Type_indexed)
ABSENT(MPI_Type_set_attr)
ABSENT(MPI_Type_set_name)
ABSENT(MPI_Type_size)
ABSENT(MPI_Type_vector)
ABSENT(MPI_Unpack)
ABSENT(MPI_Unpack_external)
ABSENT(MPI_Wait)
ABSENT(MPI_Waitall)
ABSENT(MPI_Waitany)
ABSENT(MPI_Win_call_errhandler)
ABSENT(MPI_Win_complete)
ABSENT(MPI_Win_delete_attr)
ABSENT(MPI_Win_fence)
ABSENT(MPI_Win_get_errhandler)
ABSENT(MPI_Win_get_group)
ABSENT(MPI_Win_get_name)
ABSENT(MPI_Win_lock)
ABSENT(MPI_Win_post)
ABSENT(MPI_Win_set_attr)
ABSENT(MPI_Win_set_errhandler)
ABSENT(MPI_Win_set_name)
ABSENT(MPI_Win_start)
ABSENT(MPI_Win_test)
ABSENT(MPI_Win_unlock)
ABSENT(MPI_Win_wait)

/* MPI::Win::Free(), MPI::Datatype::Free(), and what registers operations written in C++. */
ABSENT(_ZN3MPI3Win4FreeEv)
ABSENT(_ZN3MPI8Datatype4FreeEv)
ABSENT(ompi_mpi_cxx_op_intercept)
ABSENT(ompi_op_set_cxx_callback)
