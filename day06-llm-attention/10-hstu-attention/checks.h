/// checks.h: what both stages refuse. Given.
#pragma once

#include <wb/arguments.h>
#include <wb/device.h>

#include <cstdint>
#include <cstdio>

#include "hstu_attention.h"

/// Checks of one call. Names of places are put together here: "cu_seqlens[3]".
class HstuChecks {
 public:
    explicit HstuChecks(const char* function) : arguments_(function) {}
    const wb::Arguments& arguments() const { return arguments_; }

    /// An entry of an array on the host, which must be from low to high.
    void entry(const char* array,
               int64_t place,
               int64_t value,
               int64_t low,
               int64_t high) const {
        if (value >= low && value <= high) return;
        char name[64];
        char requirement[96];
        std::snprintf(
            name, sizeof(name), "%s[%lld]", array, static_cast<long long>(place));
        std::snprintf(requirement,
                      sizeof(requirement),
                      "must be from %lld to %lld",
                      static_cast<long long>(low),
                      static_cast<long long>(high));
        arguments_.require(false, name, value, requirement);
    }

    /// An array of count numbers that are wanted on the host and on the device.
    void both(const char* device_name,
              const char* host_name,
              const Twice<int32_t>& array,
              int64_t count) const {
        arguments_.device(device_name, array.device, count)
            .require(count == 0 || array.host != nullptr,
                     host_name,
                     0,
                     "must be the same numbers on the host, and not null");
    }

    void sequences(const Twice<int32_t>& cu_seqlens,
                   int64_t batch,
                   int64_t total) const {
        both("cu_seqlens.device", "cu_seqlens.host", cu_seqlens, batch + 1);
        const int32_t* const starts = cu_seqlens.host;
        entry("cu_seqlens", 0, starts[0], 0, 0);
        for (int64_t b = 1; b < batch; ++b)
            entry("cu_seqlens", b, starts[b], starts[b - 1], total);
        entry("cu_seqlens", batch, starts[batch], total, total);
    }

    void contexts_and_targets(const HstuMasks& mask,
                              const int32_t* starts,
                              int64_t batch) const {
        const bool is_target = mask.kind == HstuMask::target;
        const bool has_contexts = !is_target || mask.contexts.device != nullptr ||
                                  mask.contexts.host != nullptr;
        if (has_contexts)
            both("mask.contexts.device", "mask.contexts.host", mask.contexts, batch);
        if (is_target)
            both("mask.targets.device", "mask.targets.host", mask.targets, batch);
        for (int64_t b = 0; b < batch; ++b) {
            int64_t length = int64_t{starts[b + 1]} - starts[b];
            if (has_contexts) {
                entry("mask.contexts", b, mask.contexts.host[b], 0, length);
                length -= mask.contexts.host[b];
            }
            if (is_target) entry("mask.targets", b, mask.targets.host[b], 0, length);
        }
    }

    /// Intervals of each row: one behind the other, and in the row's sequence.
    void intervals(const HstuMasks& mask,
                   const int32_t* starts,
                   int64_t batch,
                   int64_t total) const {
        both("mask.offsets.device", "mask.offsets.host", mask.offsets, total + 1);
        const int32_t* const offsets = mask.offsets.host;
        entry("mask.offsets", 0, offsets[0], 0, 0);
        for (int64_t i = 1; i <= total; ++i)
            entry("mask.offsets", i, offsets[i], offsets[i - 1], INT32_MAX / 2);
        both("mask.intervals.device",
             "mask.intervals.host",
             mask.intervals,
             2 * int64_t{offsets[total]});
        arguments_.device("mask.intervals.device",
                          reinterpret_cast<const int2*>(mask.intervals.device),
                          offsets[total]);
        for (int64_t b = 0; b < batch; ++b) {
            const int64_t length = int64_t{starts[b + 1]} - starts[b];
            for (int64_t i = starts[b]; i < starts[b + 1]; ++i) {
                int64_t low = 0;
                for (int64_t e = offsets[i]; e < offsets[i + 1]; ++e) {
                    const int64_t begin = mask.intervals.host[2 * e];
                    const int64_t end = mask.intervals.host[2 * e + 1];
                    entry("mask.intervals", 2 * e, begin, low, length - 1);
                    entry("mask.intervals", 2 * e + 1, end, begin + 1, length);
                    low = end;
                }
            }
        }
    }

    void masks(const HstuMasks& mask,
               const int32_t* starts,
               int64_t batch,
               int64_t total) const {
        const auto kind = static_cast<int64_t>(mask.kind);
        arguments_.require(kind >= 0 && kind <= 5, "mask.kind", kind, "must be 0 to 5");
        if (mask.kind == HstuMask::local) {
            arguments_.size("mask.left", mask.left).size("mask.right", mask.right);
        } else if (mask.kind == HstuMask::arbitrary) {
            intervals(mask, starts, batch, total);
        } else if (mask.kind == HstuMask::context || mask.kind == HstuMask::target) {
            contexts_and_targets(mask, starts, batch);
        }
    }

    void bias(const HstuBias& bias, int64_t heads, int64_t total) const {
        if (bias.positions != nullptr) {
            arguments_
                .require(bias.max_distance >= 0 && bias.max_distance <= 1 << 30,
                         "bias.max_distance",
                         bias.max_distance,
                         "must be from 0 to 2^30")
                .device("bias.positions",
                        bias.positions,
                        heads * (2 * bias.max_distance + 1));
        }
        if (bias.times != nullptr) {
            arguments_
                .require(bias.buckets >= 1 && bias.buckets <= 65,
                         "bias.buckets",
                         bias.buckets,
                         "must be from 1 to 65")
                .device("bias.times", bias.times, heads * bias.buckets)
                .device("bias.timestamps", bias.timestamps, total);
        }
    }

 private:
    wb::Arguments arguments_;
};

/// Sizes, mask and bias: what both passes have in common.
template <class T>
void check_call(const HstuChecks& checks, const HstuCall<T>& call) {
    const wb::Arguments& arguments = checks.arguments();
    arguments.require(wb::compute_capability() >= 80,
                      "the GPU's compute capability, times 10,",
                      wb::compute_capability(),
                      "must be 80 or more");
    arguments.size("batch", call.batch)
        .require(call.batch < 1 << 30, "batch", call.batch, "must be < 2^30")
        .size("total", call.total)
        .require(call.total <= 1 << 30, "total", call.total, "must be <= 2^30")
        .require(call.heads >= 1 && call.heads <= 65535,
                 "heads",
                 call.heads,
                 "must be from 1 to 65535")
        .require(call.head_dim == 32 || call.head_dim == 64 || call.head_dim == 128 ||
                     call.head_dim == 256,
                 "head_dim",
                 call.head_dim,
                 "must be 32, 64, 128 or 256")
        .finite("alpha", double{call.alpha})
        .positive("scaling_length", call.scaling_length);
    checks.sequences(call.cu_seqlens, call.batch, call.total);
    checks.masks(call.mask, call.cu_seqlens.host, call.batch, call.total);
    checks.bias(call.bias, call.heads, call.total);
}

/// A device array of total * heads * head_dim numbers, at a multiple of 16 bytes.
template <class T>
void check_rows(const wb::Arguments& arguments,
                const char* name,
                const T* rows,
                const HstuCall<T>& call) {
    const int64_t elements = call.total * call.heads * call.head_dim;
    constexpr int64_t kPerVector = 16 / sizeof(T);
    arguments.device(name, reinterpret_cast<const uint4*>(rows), elements / kPerVector);
}

/// What is read of a call, as far as it may not be written.
template <class T>
struct HstuBytes {
    const HstuCall<T>& call;
    const wb::Arguments& arguments;

    int64_t rows() const { return call.total * call.heads * call.head_dim * sizeof(T); }
    int64_t positions() const {
        if (call.bias.positions == nullptr) return 0;
        return call.heads * (2 * call.bias.max_distance + 1) * 4;
    }
    int64_t times() const {
        return call.bias.times == nullptr ? 0 : call.heads * call.bias.buckets * 4;
    }
    /// An array that is written is apart from all that is read.
    void written(const char* name, const void* begin, int64_t bytes) const {
        const HstuMasks& mask = call.mask;
        const bool in_list = mask.kind == HstuMask::arbitrary;
        const bool has_targets = mask.kind == HstuMask::target;
        const bool has_contexts = has_targets || mask.kind == HstuMask::context;
        const int64_t intervals = in_list ? int64_t{mask.offsets.host[call.total]} : 0;
        const int64_t stamps = call.bias.times == nullptr ? 0 : call.total * 8;
        arguments.apart(
            {{name, begin, bytes, true},
             {"q", call.q, rows(), false},
             {"k", call.k, rows(), false},
             {"v", call.v, rows(), false},
             {"cu_seqlens.device", call.cu_seqlens.device, (call.batch + 1) * 4, false},
             {"mask.contexts.device",
              mask.contexts.device,
              has_contexts && mask.contexts.device != nullptr ? call.batch * 4 : 0,
              false},
             {"mask.targets.device",
              mask.targets.device,
              has_targets ? call.batch * 4 : 0,
              false},
             {"mask.offsets.device",
              mask.offsets.device,
              in_list ? (call.total + 1) * 4 : 0,
              false},
             {"mask.intervals.device", mask.intervals.device, intervals * 8, false},
             {"bias.positions", call.bias.positions, positions(), false},
             {"bias.times", call.bias.times, times(), false},
             {"bias.timestamps", call.bias.timestamps, stamps, false}});
    }
};

/// True if there are rows to compute. Throws wb::InvalidArgument.
template <class T>
bool forward_has_work(const char* function, const HstuCall<T>& call) {
    const HstuChecks checks(function);
    check_call(checks, call);
    if (call.total == 0) return false;
    const wb::Arguments& arguments = checks.arguments();
    check_rows(arguments, "q", call.q, call);
    check_rows(arguments, "k", call.k, call);
    check_rows(arguments, "v", call.v, call);
    check_rows<T>(arguments, "o", call.o, call);
    const HstuBytes<T> bytes = {call, arguments};
    bytes.written("o", call.o, bytes.rows());
    return true;
}

/// Throws wb::InvalidArgument. With call.total == 0, there are only gradients of the
/// bias.
template <class T>
void check_backward(const char* function,
                    const HstuCall<T>& call,
                    const HstuGradients<T>& gradients) {
    const HstuChecks checks(function);
    check_call(checks, call);
    const wb::Arguments& arguments = checks.arguments();
    const HstuBytes<T> bytes = {call, arguments};
    const auto table =
        [&](const char* name, const float* gradient, const float* of, int64_t size) {
            arguments.require(
                of != nullptr || gradient == nullptr,
                name,
                static_cast<int64_t>(reinterpret_cast<uintptr_t>(gradient)),
                "must be null: there is no such bias");
            arguments.device(name, gradient, size / 4);
        };
    const HstuBias& bias = call.bias;
    table("d_positions", gradients.d_positions, bias.positions, bytes.positions());
    table("d_times", gradients.d_times, bias.times, bytes.times());
    check_rows(arguments, "q", call.q, call);
    check_rows(arguments, "k", call.k, call);
    check_rows(arguments, "v", call.v, call);
    check_rows(arguments, "d_o", gradients.d_o, call);
    check_rows<T>(arguments, "dq", gradients.dq, call);
    check_rows<T>(arguments, "dk", gradients.dk, call);
    check_rows<T>(arguments, "dv", gradients.dv, call);
    const struct {
        const char* name;
        const void* begin;
        int64_t bytes;
    } written[] = {{"dq", gradients.dq, bytes.rows()},
                   {"dk", gradients.dk, bytes.rows()},
                   {"dv", gradients.dv, bytes.rows()},
                   {"d_positions", gradients.d_positions, bytes.positions()},
                   {"d_times", gradients.d_times, bytes.times()}};
    for (const auto& each : written)
        bytes.written(each.name, each.begin, each.bytes);
    arguments.apart({{"dq", gradients.dq, bytes.rows(), true},
                     {"dk", gradients.dk, bytes.rows(), true},
                     {"dv", gradients.dv, bytes.rows(), true},
                     {"d_positions", gradients.d_positions, bytes.positions(), true},
                     {"d_times", gradients.d_times, bytes.times(), true},
                     {"d_o", gradients.d_o, bytes.rows(), false}});
}
