#include "advice.h"

namespace simt::check {
namespace {

constexpr const char* kGuard = "day01-basics/02-vector-add";
constexpr const char* kIndexing = "day01-basics/04-add-bias-nchw";
constexpr const char* kBarrier = "day01-basics/05-dot-product";
constexpr const char* kVectors = "day02-memory/01-coalescing";
constexpr const char* kAsync = "day02-memory/06-async-copy";
constexpr const char* kHopper = "day06-llm-attention/08-hopper-attention";
constexpr const char* kWarp = "day03-parallel-patterns/01-reduction";

Advice race_advice(Detail detail) {
    switch (detail) {
        case Detail::same_warp:
            return {
                "__syncwarp() between the two (lanes of a warp do not run in step), "
                "or __syncthreads()",
                kWarp};
        case Detail::warp_of_block:
            return {
                "__syncthreads() between the two, where all threads of the block "
                "reach it; if only lanes of one warp share the data, __syncwarp()",
                kBarrier};
        case Detail::update:
            return {
                "atomicAdd, or one of its like, when several threads update the same "
                "element",
                kBarrier};
        case Detail::writers:
            return {"let one thread write the element; here several do", kGuard};
        case Detail::blocks:
            return {
                "let each element have one writer, or use an atomic operation, or a "
                "second launch. Blocks of a launch are not ordered",
                kBarrier};
        case Detail::proxy:
            return {
                "async_proxy_fence() by the threads that write, before the barrier "
                "that orders the two",
                kHopper};
        case Detail::async:
            return {
                "wait for the copy (cp.async.wait_group, __pipeline_wait_prior), "
                "then __syncthreads(), before the data is used",
                kAsync};
        default:
            return {
                "__syncthreads() between the two, where all threads of the block "
                "reach it",
                kBarrier};
    }
}

}  // namespace

Advice advice(Kind kind, Detail detail) {
    switch (kind) {
        case Kind::race:
            return race_advice(detail);
        case Kind::out_of_bounds:
            if (detail == Detail::index)
                return {"compare the index with the array's extent in that dimension",
                        kIndexing};
            return {"guard the access: if (i < n)", kGuard};
        case Kind::use_after_free:
            return {"free the memory after the last kernel that uses it", kGuard};
        case Kind::uninitialised:
            if (detail == Detail::async) return race_advice(detail);
            if (detail == Detail::shared)
                return {
                    "let a thread write it first; shared memory starts with garbage",
                    kBarrier};
            return {
                "fill it first: cudaMemset, cudaMemcpy or a kernel; cudaMalloc "
                "gives garbage",
                kGuard};
        case Kind::misaligned:
            return {
                "use a vector type only at addresses that are multiples of its "
                "size; treat the head of the array element by element",
                kVectors};
        case Kind::host_pointer:
            return {
                "copy the data to memory of cudaMalloc, and give the kernel that "
                "pointer (structures that contain pointers, too)",
                kGuard};
        case Kind::device_pointer_on_host:
            return {"copy it with cudaMemcpy, or allocate with cudaMallocManaged",
                    kGuard};
        case Kind::divergent_barrier:
            return {"move the barrier out of the branch, and do not return before it",
                    kBarrier};
        case Kind::missing_lanes:
            return {
                "let all lanes that the mask names make the call, and name exactly "
                "those",
                kWarp};
        case Kind::fault:
            break;
    }
    return {"", ""};
}

}  // namespace simt::check
