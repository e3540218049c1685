/// simt/cub/device.h: cub's algorithms over whole arrays, run by the host.
///
/// As in cub, a call whose temporary memory is null only says how much it needs.
#pragma once
#include "simt/cub/common.h"
#include "simt/thrust/thrust.h"

namespace cub {
namespace detail {
/// Runs the algorithm after the stream's earlier work, unless memory is null.
template <class F>
cudaError_t device_call(void* memory, size_t& bytes, cudaStream_t stream, F algorithm) {
    if (memory == nullptr) {
        bytes = 256;
        return cudaSuccess;
    }
    const cudaError_t error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess) return error;
    const thrust::detail::Run run(thrust::detail::DevicePolicy{stream});
    algorithm();
    return cudaSuccess;
}
template <class It>
using ValueOf = thrust::detail::Value<It>;
}  // namespace detail

/// *out = a reduction of in[0, n).
struct DeviceReduce {
    template <class In, class Out, class N, class Op, class T>
    static cudaError_t Reduce(void* memory, size_t& bytes, In in, Out out, N n, Op op,
                              T initial, cudaStream_t stream = nullptr) {
        return detail::device_call(memory, bytes, stream, [&] {
            *out = thrust::reduce(in, in + n, initial, op);
        });
    }
    template <class In, class Out, class N>
    static cudaError_t Sum(void* memory, size_t& bytes, In in, Out out, N n,
                           cudaStream_t stream = nullptr) {
        using T = detail::ValueOf<In>;
        return Reduce(memory, bytes, in, out, n, thrust::plus<T>(), T(), stream);
    }
    template <class In, class Out, class N>
    static cudaError_t Max(void* memory, size_t& bytes, In in, Out out, N n,
                           cudaStream_t stream = nullptr) {
        return detail::device_call(memory, bytes, stream,
                                   [&] { *out = *thrust::max_element(in, in + n); });
    }
    template <class In, class Out, class N>
    static cudaError_t Min(void* memory, size_t& bytes, In in, Out out, N n,
                           cudaStream_t stream = nullptr) {
        return detail::device_call(memory, bytes, stream,
                                   [&] { *out = *thrust::min_element(in, in + n); });
    }
    template <class In, class Out, class N>
    static cudaError_t ArgMax(void* memory, size_t& bytes, In in, Out out, N n,
                              cudaStream_t stream = nullptr) {
        return detail::device_call(memory, bytes, stream, [&] {
            const auto best = thrust::max_element(in, in + n);
            *out = {static_cast<int>(best - in), *best};
        });
    }
    template <class In, class Out, class N>
    static cudaError_t ArgMin(void* memory, size_t& bytes, In in, Out out, N n,
                              cudaStream_t stream = nullptr) {
        return detail::device_call(memory, bytes, stream, [&] {
            const auto best = thrust::min_element(in, in + n);
            *out = {static_cast<int>(best - in), *best};
        });
    }
    template <class Keys, class KeysOut, class In, class Out, class Count, class Op,
              class N>
    static cudaError_t ReduceByKey(void* memory, size_t& bytes, Keys keys,
                                   KeysOut keys_out, In in, Out out, Count count, Op op,
                                   N n, cudaStream_t stream = nullptr) {
        return detail::device_call(memory, bytes, stream, [&] {
            *count = thrust::reduce_by_key(keys, keys + n, in, keys_out, out,
                                           thrust::equal_to<>(), op)
                         .first -
                     keys_out;
        });
    }
};

/// Prefix sums of in[0, n).
struct DeviceScan {
    template <class In, class Out, class Op, class T, class N>
    static cudaError_t ExclusiveScan(void* memory, size_t& bytes, In in, Out out, Op op,
                                     T initial, N n, cudaStream_t stream = nullptr) {
        return detail::device_call(memory, bytes, stream, [&] {
            thrust::exclusive_scan(in, in + n, out, initial, op);
        });
    }
    template <class In, class Out, class N>
    static cudaError_t ExclusiveSum(void* memory, size_t& bytes, In in, Out out, N n,
                                    cudaStream_t stream = nullptr) {
        return ExclusiveScan(memory, bytes, in, out, cub::Sum(), detail::ValueOf<In>(),
                             n, stream);
    }
    template <class In, class Out, class Op, class N>
    static cudaError_t InclusiveScan(void* memory, size_t& bytes, In in, Out out, Op op,
                                     N n, cudaStream_t stream = nullptr) {
        return detail::device_call(memory, bytes, stream, [&] {
            thrust::inclusive_scan(in, in + n, out, op);
        });
    }
    template <class In, class Out, class N>
    static cudaError_t InclusiveSum(void* memory, size_t& bytes, In in, Out out, N n,
                                    cudaStream_t stream = nullptr) {
        return InclusiveScan(memory, bytes, in, out, cub::Sum(), n, stream);
    }
};

/// Stable sorts. Whole keys are compared: a range of bits cannot be chosen.
struct DeviceRadixSort {
    template <class Key, class N>
    static cudaError_t SortKeys(void* memory, size_t& bytes, const Key* in, Key* out,
                                N n) {
        return sort(memory, bytes, in, out, n, std::less<>());
    }
    template <class Key, class N>
    static cudaError_t SortKeysDescending(void* memory, size_t& bytes, const Key* in,
                                          Key* out, N n) {
        return sort(memory, bytes, in, out, n, std::greater<>());
    }
    template <class Key, class Value, class N>
    static cudaError_t SortPairs(void* memory, size_t& bytes, const Key* in, Key* out,
                                 const Value* values, Value* values_out, N n) {
        return sort_pairs(memory, bytes, in, out, values, values_out, n, std::less<>());
    }
    template <class Key, class Value, class N>
    static cudaError_t SortPairsDescending(void* memory, size_t& bytes, const Key* in,
                                           Key* out, const Value* values,
                                           Value* values_out, N n) {
        return sort_pairs(memory, bytes, in, out, values, values_out, n,
                          std::greater<>());
    }
    template <class Key, class N>
    static cudaError_t SortKeys(void* memory, size_t& bytes, DoubleBuffer<Key>& keys,
                                N n) {
        return sort(memory, bytes, keys.Current(), keys.Current(), n, std::less<>());
    }
    template <class Key, class Value, class N>
    static cudaError_t SortPairs(void* memory, size_t& bytes, DoubleBuffer<Key>& keys,
                                 DoubleBuffer<Value>& values, N n) {
        return sort_pairs(memory, bytes, keys.Current(), keys.Current(),
                          values.Current(), values.Current(), n, std::less<>());
    }

 private:
    template <class Key, class N, class Less>
    static cudaError_t sort(void* memory, size_t& bytes, const Key* in, Key* out, N n,
                            Less less) {
        return detail::device_call(memory, bytes, nullptr, [&] {
            thrust::copy(in, in + n, out);
            thrust::sort(out, out + n, less);
        });
    }
    template <class Key, class Value, class N, class Less>
    static cudaError_t sort_pairs(void* memory, size_t& bytes, const Key* in, Key* out,
                                  const Value* values, Value* values_out, N n,
                                  Less less) {
        return detail::device_call(memory, bytes, nullptr, [&] {
            thrust::copy(in, in + n, out);
            thrust::copy(values, values + n, values_out);
            thrust::sort_by_key(out, out + n, values_out, less);
        });
    }
};

/// Keeps some of in[0, n); *count is how many.
struct DeviceSelect {
    template <class In, class Out, class Count, class N, class Predicate>
    static cudaError_t If(void* memory, size_t& bytes, In in, Out out, Count count, N n,
                          Predicate predicate, cudaStream_t stream = nullptr) {
        return detail::device_call(memory, bytes, stream, [&] {
            *count = thrust::copy_if(in, in + n, out, predicate) - out;
        });
    }
    template <class In, class Flags, class Out, class Count, class N>
    static cudaError_t Flagged(void* memory, size_t& bytes, In in, Flags flags, Out out,
                               Count count, N n, cudaStream_t stream = nullptr) {
        return detail::device_call(memory, bytes, stream, [&] {
            *count = thrust::copy_if(in, in + n, flags, out,
                                     [](auto flag) { return bool(flag); }) -
                     out;
        });
    }
    template <class In, class Out, class Count, class N>
    static cudaError_t Unique(void* memory, size_t& bytes, In in, Out out, Count count,
                              N n, cudaStream_t stream = nullptr) {
        return detail::device_call(memory, bytes, stream, [&] {
            *count = thrust::unique_copy(in, in + n, out) - out;
        });
    }
};

/// Reorders: what is selected stays in order, and goes to the front; the rest follows
/// from the end on.
struct DevicePartition {
    template <class In, class Flags, class Out, class Count, class N>
    static cudaError_t Flagged(void* memory, size_t& bytes, In in, Flags flags, Out out,
                               Count count, N n, cudaStream_t stream = nullptr) {
        return part(memory, bytes, in, out, count, n, stream,
                    [=](N i) { return bool(flags[i]); });
    }
    template <class In, class Out, class Count, class N, class Predicate>
    static cudaError_t If(void* memory, size_t& bytes, In in, Out out, Count count, N n,
                          Predicate predicate, cudaStream_t stream = nullptr) {
        return part(memory, bytes, in, out, count, n, stream,
                    [=](N i) { return bool(predicate(in[i])); });
    }
    /// Into three arrays, each in order; count[0] and count[1] are of the first two.
    template <class In, class First, class Second, class Rest, class Count, class N,
              class IsFirst, class IsSecond>
    static cudaError_t If(void* memory, size_t& bytes, In in, First first,
                          Second second, Rest rest, Count count, N n, IsFirst is_first,
                          IsSecond is_second, cudaStream_t stream = nullptr) {
        return detail::device_call(memory, bytes, stream, [&] {
            N found[3] = {};
            for (N i = 0; i < n; ++i) {
                if (is_first(in[i]))
                    first[found[0]++] = in[i];
                else if (is_second(in[i]))
                    second[found[1]++] = in[i];
                else
                    rest[found[2]++] = in[i];
            }
            count[0] = found[0];
            count[1] = found[1];
        });
    }

 private:
    template <class In, class Out, class Count, class N, class Selects>
    static cudaError_t part(void* memory, size_t& bytes, In in, Out out, Count count,
                            N n, cudaStream_t stream, Selects selects) {
        return detail::device_call(memory, bytes, stream, [&] {
            N selected = 0, rejected = n;
            for (N i = 0; i < n; ++i)
                out[selects(i) ? selected++ : --rejected] = in[i];
            *count = selected;
        });
    }
};

/// The values and lengths of runs of equal elements.
struct DeviceRunLengthEncode {
    template <class In, class Out, class Lengths, class Count, class N>
    static cudaError_t Encode(void* memory, size_t& bytes, In in, Out out,
                              Lengths lengths, Count count, N n,
                              cudaStream_t stream = nullptr) {
        return DeviceReduce::ReduceByKey(memory, bytes, in, out,
                                         thrust::constant_iterator<int>(1), lengths,
                                         count, cub::Sum(), n, stream);
    }
};

/// How many of samples[0, n) are in each bin; those in none are counted nowhere.
struct DeviceHistogram {
    /// levels - 1 bins of equal width in [lower, upper).
    template <class In, class Count, class Level, class N>
    static cudaError_t HistogramEven(void* memory, size_t& bytes, In in, Count* counts,
                                     int levels, Level lower, Level upper, N n,
                                     cudaStream_t stream = nullptr) {
        using Wide = std::conditional_t<std::is_integral_v<Level>, int64_t, Level>;
        const Wide bins = static_cast<Wide>(levels - 1);
        const Wide width = static_cast<Wide>(upper) - static_cast<Wide>(lower);
        return count(memory, bytes, in, counts, levels, n, stream, [=](auto sample) {
            const Wide value = static_cast<Wide>(sample);
            if (!(value >= lower && value < upper)) return -1;
            // As cub: a whole number is divided, of others the reciprocal is taken.
            const Wide from_lower = value - static_cast<Wide>(lower);
            if constexpr (std::is_integral_v<Level>)
                return static_cast<int>(from_lower * bins / width);
            else
                return static_cast<int>(from_lower * (bins / width));
        });
    }
    /// Bin b is [bounds[b], bounds[b + 1]), of `levels` bounds that do not descend.
    template <class In, class Count, class Level, class N>
    static cudaError_t HistogramRange(void* memory, size_t& bytes, In in, Count* counts,
                                      int levels, const Level* bounds, N n,
                                      cudaStream_t stream = nullptr) {
        return count(memory, bytes, in, counts, levels, n, stream, [=](auto sample) {
            int above = 0;
            while (above < levels && !(static_cast<Level>(sample) < bounds[above]))
                ++above;
            return above < levels ? above - 1 : -1;
        });
    }

 private:
    template <class In, class Count, class N, class BinOf>
    static cudaError_t count(void* memory, size_t& bytes, In in, Count* counts,
                             int levels, N n, cudaStream_t stream, BinOf bin_of) {
        return detail::device_call(memory, bytes, stream, [&] {
            thrust::fill(counts, counts + (levels - 1), Count{});
            for (N i = 0; i < n; ++i) {
                const int bin = bin_of(static_cast<detail::ValueOf<In>>(in[i]));
                if (bin >= 0 && bin < levels - 1) ++counts[bin];
            }
        });
    }
};
}  // namespace cub
