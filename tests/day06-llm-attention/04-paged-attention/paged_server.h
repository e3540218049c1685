// paged_server.h: a cache that grows token by token, as in a server.
#pragma once

#include "paged_grading.h"

#include <wb/page_allocator.h>
#include <wb/scratch.h>

namespace paged_grading {

/// The cache's device memory: nothing in the pages yet.
struct ServerMemory {
    wb::PagedCache cache;
    int32_t* table;
    int32_t* lengths;

    ServerMemory(Grader& grade, const PagedInputs& inputs) : cache(sizes_of(inputs)) {
        const std::vector<uint16_t> stale(inputs.k_pool.size(), 0xFFFF);
        const auto pool = static_cast<int64_t>(stale.size());
        cache.k = reinterpret_cast<__nv_bfloat16*>(
            grade.in_out<uint16_t>("cache.k", {pool}, stale));
        cache.v = reinterpret_cast<__nv_bfloat16*>(
            grade.in_out<uint16_t>("cache.v", {pool}, stale));
        table = grade.in_out<int32_t>(
            "table", {static_cast<int64_t>(inputs.table.size())}, inputs.table);
        lengths = grade.in_out<int32_t>("lengths", {inputs.batch()}, inputs.lengths);
        cache.block_table = table;
        cache.lengths = lengths;
    }
};

/// Lets sequences grow in the cache, with the tokens that the inputs have for them.
class Server {
 public:
    wb::PageAllocator pages;

    /// All arguments outlive it.
    Server(const ServerMemory& memory,
           const PagedInputs& inputs,
           const wb::PagedWorkspace& workspace,
           cudaStream_t stream)
        : pages(inputs.num_pages,
                inputs.shape.page_size,
                inputs.batch(),
                inputs.pages_per_sequence),
          memory_(memory),
          inputs_(inputs),
          workspace_(workspace),
          stream_(stream) {}

    /// Makes room for new tokens, and puts them there with the learner's append_kv.
    void append(const std::vector<NewTokens>& pieces) {
        const Append tokens = tokens_of(inputs_, pieces);
        for (const NewTokens& piece : pieces)
            wb::copy_pages(
                memory_.cache, pages.grow(piece.sequence, piece.count), stream_);
        upload(memory_.table, pages.block_table());
        const wb::Scratch<__nv_bfloat16> k(static_cast<int64_t>(tokens.k.size()),
                                           stream_);
        const wb::Scratch<__nv_bfloat16> v(static_cast<int64_t>(tokens.v.size()),
                                           stream_);
        const wb::Scratch<int32_t> sequences(tokens.tokens(), stream_);
        const wb::Scratch<int32_t> positions(tokens.tokens(), stream_);
        upload(k.data(), tokens.k);
        upload(v.data(), tokens.v);
        upload(sequences.data(), tokens.sequences);
        upload(positions.data(), tokens.positions);
        append_kv(memory_.cache,
                  k.data(),
                  v.data(),
                  sequences.data(),
                  positions.data(),
                  tokens.tokens(),
                  workspace_,
                  stream_);
        CUDA_CHECK(cudaStreamSynchronize(stream_));  // the host's vectors end here
    }

    /// The learner's paged_attention over all that has been appended.
    void attend(const __nv_bfloat16* q, __nv_bfloat16* o) {
        upload(memory_.lengths, pages.lengths());
        paged_attention(memory_.cache,
                        q,
                        o,
                        nullptr,
                        inputs_.shape.query_heads,
                        inputs_.scale(),
                        workspace_,
                        stream_);
    }

 private:
    template <class T>
    void upload(T* to, const std::vector<T>& from) {
        CUDA_CHECK(cudaMemcpyAsync(
            to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream_));
    }

    const ServerMemory& memory_;
    const PagedInputs& inputs_;
    const wb::PagedWorkspace& workspace_;
    cudaStream_t stream_;
};

}  // namespace paged_grading
