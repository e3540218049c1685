/// checks.h: given with this exercise: what the functions of the contract refuse.
/// There is nothing to write here.
#pragma once

#include <wb/arguments.h>
#include <wb/device.h>

#include <cstdint>

#include "../02-gptq-int4/packed.cuh"
#include "arguments.h"
#include "layernorm_gptq_qkv.h"

/// What qkv_packed_vectors() says.
inline int64_t checked_packed_vectors(const QkvShape& s, bool has_order) {
    const QkvArguments arguments("qkv_packed_vectors", s);
    return packed_vectors(s.weights(), has_order);
}

/// qkv_repack(), whole.
inline void checked_repack(const QkvShape& s,
                           const GptqTensors& t,
                           uint4* packed,
                           unsigned long long* bad_rows,
                           cudaStream_t stream) {
    const QkvArguments arguments("qkv_repack", s);
    arguments.tensors(t);
    if (s.hidden == 0) return;
    const int64_t vectors = packed_vectors(s.weights(), t.g_idx != nullptr);
    arguments.arguments().device("packed", packed, vectors);
    arguments.weights().written(t, "packed", packed, 16 * vectors, bad_rows);
    repack(s.weights(), t, packed, bad_rows, stream);
}

/// Refuses wrong arguments of layernorm_gptq_qkv(). False if there is nothing to do.
inline bool qkv_has_work(const QkvShape& s,
                         const QkvNorm& norm,
                         const GptqTensors& t,
                         const uint4* packed,
                         const __half* input,
                         const __half* qkv) {
    const QkvArguments arguments("layernorm_gptq_qkv", s);
    const wb::Arguments& a = arguments.arguments();
    a.not_negative("norm.eps", norm.eps);
    arguments.tensors(t);
    const int64_t elements = s.rows() * s.hidden;
    if (elements == 0) return false;
    const int64_t vectors = packed_vectors(s.weights(), t.g_idx != nullptr);
    const int64_t of_weight = norm.weight == nullptr ? 0 : s.hidden;
    const int64_t of_bias = norm.bias == nullptr ? 0 : s.hidden;
    a.device("norm.weight", norm.weight, of_weight)
        .device("norm.bias", norm.bias, of_bias)
        .device("packed", packed, vectors)
        .device("input", input, elements)
        .device("qkv", qkv, 3 * elements);
    arguments.weights().vectors("norm.weight", norm.weight);
    arguments.weights().vectors("norm.bias", norm.bias);
    arguments.weights().vectors("input", input);
    arguments.weights().vectors("qkv", qkv);
    a.apart({{"norm.weight", norm.weight, 2 * of_weight, false},
             {"norm.bias", norm.bias, 2 * of_bias, false},
             {"tensors.qweight", t.qweight, 4 * t.qweight_words, false},
             {"tensors.qzeros", t.qzeros, 4 * t.qzeros_words, false},
             {"tensors.scales", t.scales, 2 * t.num_scales, false},
             {"tensors.g_idx", t.g_idx, 4 * t.g_idx_rows, false},
             {"packed", packed, 16 * vectors, false},
             {"input", input, 2 * elements, false},
             {"qkv", qkv, 6 * elements, true}});
    a.require(wb::compute_capability() >= 80,
              "the GPU's compute capability, times 10",
              wb::compute_capability(),
              "must be 80 or more: mma.m16n8k16 came with sm_80");
    return true;
}
