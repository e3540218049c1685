#include "advice.h"

namespace simt::check {
namespace {

const char* race_advice(Detail detail) {
    switch (detail) {
        case Detail::same_warp:
            return "__syncwarp() between the two (lanes of a warp do not run in step), "
                   "or __syncthreads()";
        case Detail::warp_of_block:
            return "__syncthreads() between the two, where all threads of the block "
                   "reach it; if only lanes of one warp share the data, __syncwarp()";
        case Detail::update:
            return "atomicAdd, or one of its like, when several threads update the "
                   "same "
                   "element";
        case Detail::writers:
            return "let one thread write the element; here several do";
        case Detail::blocks:
            return "let each element have one writer, or use an atomic operation, or a "
                   "second launch. Blocks of a launch are not ordered";
        case Detail::fence:
            return "__threadfence() between the write and the atomic operation that "
                   "tells of it, and another one behind the atomic operation of those "
                   "who read; or cuda::atomic_ref with memory_order_acq_rel";
        case Detail::scope:
            return "a scope that holds both blocks: cuda::thread_scope_device, or "
                   "atomicAdd and its like without `_block`";
        case Detail::read_only:
            return "an ordinary load, or __ldcg; or let an earlier launch write what "
                   "this one loads by __ldg";
        case Detail::cluster:
            return "cluster.sync() between the two, where all threads of the cluster "
                   "reach it";
        case Detail::proxy:
            return "async_proxy_fence() by the threads that write, before the barrier "
                   "that orders the two";
        case Detail::barrier:
            return "mbarrier_init_fence() by the thread that makes the barriers, "
                   "behind the last of them, before the barrier of the block";
        case Detail::dependency:
            return "cudaGridDependencySynchronize() before the first access to memory "
                   "that the launch before uses, where one of the two writes";
        case Detail::streams:
            return "memory of its own for each call (cudaMallocAsync); or let one "
                   "stream wait for an event of the other (cudaStreamWaitEvent)";
        case Detail::async:
            return "wait for the copy (cp.async.wait_group, __pipeline_wait_prior), "
                   "then __syncthreads(), before the memory is used";
        default:
            return "__syncthreads() between the two, where all threads of the block "
                   "reach it";
    }
}

}  // namespace

const char* advice(Kind kind, Detail detail) {
    switch (kind) {
        case Kind::race:
            return race_advice(detail);
        case Kind::out_of_bounds:
            if (detail == Detail::index)
                return "compare the index with the array's extent in that dimension";
            return "guard the access: if (i < n)";
        case Kind::use_after_free:
            if (detail == Detail::cluster)
                return "cluster.sync() after the last access to another block's shared "
                       "memory, so that no block ends before";
            return "free the memory after the last kernel that uses it";
        case Kind::uninitialised:
            if (detail == Detail::async) return race_advice(detail);
            if (detail == Detail::shared)
                return "let a thread write it first; shared memory starts with garbage";
            return "fill it first: cudaMemset, cudaMemcpy or a kernel; cudaMalloc "
                   "gives garbage";
        case Kind::misaligned:
            return "use a vector type only at addresses that are multiples of its "
                   "size; treat the head of the array element by element";
        case Kind::undefined:
            return "bring the value or the count into its range first: fminf, "
                   "n < 32 ? x << n : 0; or say what is meant: __float2int_rz";
        case Kind::host_pointer:
            return "copy the data to memory of cudaMalloc, and give the kernel that "
                   "pointer (structures that contain pointers, too)";
        case Kind::device_pointer_on_host:
            return "copy it with cudaMemcpy, or allocate with cudaMallocManaged";
        case Kind::divergent_barrier:
            return "move the barrier out of the branch, and do not return before it";
        case Kind::missing_lanes:
            return "let all lanes that the mask names make the call, and name exactly "
                   "those";
        default:
            return "";
    }
}

}  // namespace simt::check
