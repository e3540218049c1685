// checks.h: given with this exercise: what both stages refuse.
#pragma once

#include <wb/arguments.h>
#include <wb/attention.h>

#include "tiles.h"

/// True if there are rows of q. Throws wb::InvalidArgument.
template <class T>
bool attention_has_work(const wb::AttentionShape& shape,
                        const T* q,
                        const T* k,
                        const T* v,
                        const T* o,
                        const float* lse) {
    const wb::Arguments arguments("tensor_core_attention");
    wb::check_shape(arguments, shape, {64, 128});
    require_sm_80(arguments);
    if (shape.rows() == 0) return false;
    // As uint4, so that an address that is not a multiple of 16 is refused.
    const auto vectors = [](const T* p) { return reinterpret_cast<const uint4*>(p); };
    arguments.device("q", vectors(q), shape.query_elements() / kChunk)
        .device("k", vectors(k), shape.kv_elements() / kChunk)
        .device("v", vectors(v), shape.kv_elements() / kChunk)
        .device("o", vectors(o), shape.query_elements() / kChunk);
    if (lse != nullptr) arguments.device("lse", lse, shape.rows());
    return true;
}
