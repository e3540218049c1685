/// refused.h: given with this exercise: what the seven functions refuse, and whether
/// there is anything to do. There is nothing to write here.
#pragma once

#include <wb/arguments.h>

#include <cstdint>
#include <cstdio>
#include <initializer_list>

#include "losses.h"

/// An array, as far as its place in memory is concerned.
struct Place {
    const char* name;
    const void* begin;
    int64_t bytes;
};

/// An array that may begin at any element.
template <class T>
Place place_of(const wb::Arguments& arguments,
               const char* name,
               const T* array,
               int64_t count) {
    arguments.device(name, array, count);
    return {name, array, count * int64_t{sizeof(T)}};
}

/// The same, if it is there.
template <class T>
Place place_if(const wb::Arguments& arguments,
               const char* name,
               const T* array,
               int64_t count) {
    return array == nullptr ? Place{name, nullptr, 0}
                            : place_of(arguments, name, array, count);
}

/// An output shares no byte with any other array.
inline void check_apart(const wb::Arguments& arguments,
                        std::initializer_list<Place> outputs,
                        std::initializer_list<Place> inputs) {
    const auto apart = [&](const Place& out, const Place& other) {
        char names[64];
        std::snprintf(names, sizeof names, "%s - %s", out.name, other.name);
        arguments.apart(names, other.begin, other.bytes, out.begin, out.bytes);
    };
    for (const Place& out : outputs) {
        for (const Place& in : inputs)
            apart(out, in);
        for (const Place& other : outputs)
            if (&other < &out) apart(out, other);
    }
}

/// So many rows that a grid can count them.
inline void check_count(const wb::Arguments& arguments,
                        const char* name,
                        int64_t count) {
    arguments.size(name, count)
        .require(count < int64_t{1} << 31, name, count, "must be below 2^31");
}

inline bool check_l2(const wb::Arguments& arguments, const L2Shape& shape) {
    const auto [rows, columns, eps] = shape;
    check_count(arguments, "rows", rows);
    arguments.size("columns", columns).above_zero("eps", eps);
    return arguments.product("rows * columns * 4", {rows, columns, 4}) > 0;
}

/// For l2_normalize().
inline bool check_l2_normalize(const float* x,
                               const float* y,
                               const float* norms,
                               const L2Shape& shape) {
    const wb::Arguments arguments("l2_normalize");
    if (!check_l2(arguments, shape)) return false;
    const auto [rows, columns, eps] = shape;
    check_apart(arguments,
                {place_of(arguments, "y", y, rows * columns),
                 place_of(arguments, "norms", norms, rows)},
                {place_of(arguments, "x", x, rows * columns)});
    return true;
}

/// For l2_normalize_backward().
inline bool check_l2_backward(const float* dy,
                              const float* y,
                              const float* norms,
                              const float* dx,
                              const L2Shape& shape) {
    const wb::Arguments arguments("l2_normalize_backward");
    if (!check_l2(arguments, shape)) return false;
    const auto [rows, columns, eps] = shape;
    check_apart(arguments,
                {place_of(arguments, "dx", dx, rows * columns)},
                {place_of(arguments, "dy", dy, rows * columns),
                 place_of(arguments, "y", y, rows * columns),
                 place_of(arguments, "norms", norms, rows)});
    return true;
}

/// @param more  an input besides those of `in`, or {}
inline void check_bce(const wb::Arguments& arguments,
                      const BceInput& in,
                      std::initializer_list<Place> outputs,
                      const Place& more) {
    check_apart(arguments,
                outputs,
                {place_of(arguments, "logits", in.logits, in.n),
                 place_of(arguments, "targets", in.targets, in.n),
                 place_if(arguments, "weights", in.weights, in.n),
                 more});
}

inline void check_bce_sizes(const wb::Arguments& arguments, const BceInput& in) {
    arguments.size("n", in.n).finite("pos_weight", in.pos_weight);
    arguments.product("n * 4", {in.n, 4});
    arguments.require(in.pos_weight >= 0.0f,
                      "pos_weight",
                      static_cast<int64_t>(in.pos_weight),
                      "must be >= 0");
}

/// For bce_with_logits(). Always true: the mean of nothing is written, too.
inline bool check_bce_with_logits(const BceInput& in, const float* loss) {
    const wb::Arguments arguments("bce_with_logits");
    check_bce_sizes(arguments, in);
    check_bce(arguments, in, {place_of(arguments, "loss", loss, 1)}, {});
    return true;
}

/// For bce_with_logits_backward().
inline bool check_bce_backward(const BceInput& in,
                               const float* grad_loss,
                               const float* dlogits) {
    const wb::Arguments arguments("bce_with_logits_backward");
    check_bce_sizes(arguments, in);
    if (in.n == 0) return false;
    check_bce(arguments,
              in,
              {place_of(arguments, "dlogits", dlogits, in.n)},
              place_of(arguments, "grad_loss", grad_loss, 1));
    return true;
}

/// For draw_negatives().
inline bool check_draw(const int32_t* ids, int64_t count, int32_t items) {
    const wb::Arguments arguments("draw_negatives");
    arguments.size("count", count).positive("items", items);
    arguments.product("count * 4", {count, 4});
    arguments.device("ids", ids, count);
    return count > 0;
}

inline void check_sampled_sizes(const wb::Arguments& arguments,
                                const SampledInput& in) {
    check_count(arguments, "queries", in.queries);
    check_count(arguments, "batch", in.batch);
    arguments.size("negatives", in.negatives);
    arguments.product("queries * negatives * 4", {in.queries, in.negatives, 4});
}

inline void check_sampled(const wb::Arguments& arguments,
                          const SampledInput& in,
                          std::initializer_list<Place> outputs,
                          const Place& more,
                          const Place& even_more) {
    const int64_t all = in.queries * in.negatives;
    const auto& a = arguments;
    check_apart(arguments,
                outputs,
                {place_of(a, "positive", in.positive, in.queries),
                 place_of(a, "negative", in.negative, all),
                 place_of(a, "positive_ids", in.positive_ids, in.queries),
                 place_of(a, "negative_ids", in.negative_ids, in.negatives),
                 place_if(a, "positive_log_q", in.positive_log_q, in.queries),
                 place_if(a, "negative_log_q", in.negative_log_q, in.negatives),
                 place_of(a, "offsets", in.offsets, in.batch + 1),
                 more,
                 even_more});
}

/// For sampled_softmax(). Always true: the mean of no queries is written, too.
inline bool check_sampled_softmax(const SampledInput& in,
                                  const float* losses,
                                  const float* loss) {
    const wb::Arguments arguments("sampled_softmax");
    check_sampled_sizes(arguments, in);
    check_sampled(arguments,
                  in,
                  {place_of(arguments, "losses", losses, in.queries),
                   place_of(arguments, "loss", loss, 1)},
                  {},
                  {});
    return true;
}

/// For sampled_softmax_backward().
inline bool check_sampled_backward(const SampledInput& in,
                                   const float* losses,
                                   const float* grad_loss,
                                   const float* dpositive,
                                   const float* dnegative) {
    const wb::Arguments arguments("sampled_softmax_backward");
    check_sampled_sizes(arguments, in);
    if (in.queries == 0) return false;
    check_sampled(
        arguments,
        in,
        {place_of(arguments, "dpositive", dpositive, in.queries),
         place_of(arguments, "dnegative", dnegative, in.queries * in.negatives)},
        place_of(arguments, "losses", losses, in.queries),
        place_of(arguments, "grad_loss", grad_loss, 1));
    return true;
}
