#include "choices.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <wb/check.h>
#include <wb/scratch.h>

#include <cmath>
#include <type_traits>

namespace {

/// a * b + c, rounded once to T. GPUs before sm_80 have no instruction for it in bf16;
/// there it is rounded to float first.
template <class T>
__device__ T fused(T a, T b, T c) {
    if constexpr (std::is_same_v<T, float>) return fmaf(a, b, c);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    else if constexpr (std::is_same_v<T, __nv_bfloat16>)
        return static_cast<T>(
            fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
#endif
    else
        return __hfma(a, b, c);
}

/// exp(x), rounded to T.
template <class T>
__device__ T exponential(T x) {
    if constexpr (std::is_same_v<T, float>) {
        return expf(x);
    } else {
        return hexp(x);
    }
}

template <class To, class From>
__device__ To convert(From x) {
    return static_cast<To>(static_cast<float>(x));
}

/// One row a block, by one thread: what is asked for is the error, not the speed.
///
/// @tparam S  storage
/// @tparam A  accumulation
/// @tparam X  softmax
/// @tparam W  weights
///
/// Launch   grid queries, block 1
template <class S, class A, class X, class W>
__global__ void attend_kernel(const float* q,  // [queries, kHeadDim]
                              const float* k,  // [keys, kHeadDim]
                              const float* v,  // [keys, kHeadDim]
                              float* o,        // [queries, kHeadDim]
                              float* weights,  // [queries, keys] scores, then weights
                              int keys,
                              float scale) {
    q += int64_t{blockIdx.x} * kHeadDim;
    o += int64_t{blockIdx.x} * kHeadDim;
    weights += int64_t{blockIdx.x} * keys;
    X maximum = convert<X>(-INFINITY);
    for (int j = 0; j < keys; ++j) {
        A sum = convert<A>(0.0f);
        for (int d = 0; d < kHeadDim; ++d) {
            sum = fused(convert<A>(convert<S>(q[d])),
                        convert<A>(convert<S>(k[int64_t{j} * kHeadDim + d])),
                        sum);
        }
        const X score = convert<X>(fused(sum, convert<A>(scale), convert<A>(0.0f)));
        weights[j] = convert<float>(score);
        // A maximum with a NaN in it would be the other number.
        if (!(score <= maximum)) maximum = score;
    }
    X total = convert<X>(0.0f);
    for (int j = 0; j < keys; ++j) {
        const X weight = exponential<X>(convert<X>(weights[j]) - maximum);
        total = total + weight;
        weights[j] = convert<float>(weight);
    }
    A sums[kHeadDim];
    for (int d = 0; d < kHeadDim; ++d)
        sums[d] = convert<A>(0.0f);
    constexpr bool kDivideLast = !std::is_same_v<W, X>;
    const X divisor = kDivideLast ? convert<X>(1.0f) : total;
    for (int j = 0; j < keys; ++j) {
        const A weight = convert<A>(convert<W>(convert<X>(weights[j]) / divisor));
        for (int d = 0; d < kHeadDim; ++d) {
            sums[d] = fused(
                weight, convert<A>(convert<S>(v[int64_t{j} * kHeadDim + d])), sums[d]);
        }
    }
    const float last = kDivideLast ? convert<float>(total) : 1.0f;
    for (int d = 0; d < kHeadDim; ++d)
        o[d] = convert<float>(convert<S>(convert<float>(sums[d]) / last));
}

/// Launch   grid 1, block 1
template <class T>
__global__ void demonstrate_kernel(float* results) {
    const T one = convert<T>(1.0f);
    T sum = convert<T>(0.0f);
    for (int i = 0; i < 5000; ++i)
        sum = sum + one;
    results[0] = convert<float>(sum);
    T values = convert<T>(0.0f);
    for (int i = 0; i < 64; ++i)
        values = fused(one, convert<T>(1100.0f), values);
    results[1] = convert<float>(values);
    results[2] = convert<float>(exponential(convert<T>(12.0f)));
    results[3] = convert<float>(exponential(convert<T>(-18.0f)));
    results[4] = convert<float>(one + convert<T>(0.001f));
}

/// Copies to the device and back; host memory in, host memory out.
class DeviceArray {
 public:
    explicit DeviceArray(size_t count)
        : count_(count), memory_(int64_t(count), nullptr) {}
    explicit DeviceArray(const std::vector<float>& values)
        : DeviceArray(values.size()) {
        CUDA_CHECK(cudaMemcpy(
            data(), values.data(), count_ * sizeof(float), cudaMemcpyHostToDevice));
    }
    float* data() const { return memory_.data(); }
    std::vector<float> host() const {
        std::vector<float> values(count_);
        CUDA_CHECK(cudaMemcpy(
            values.data(), data(), count_ * sizeof(float), cudaMemcpyDeviceToHost));
        return values;
    }

 private:
    size_t count_;
    wb::Scratch<float> memory_;
};

template <class S, class A, class X, class W>
std::vector<float> run(const std::vector<float>& q,
                       const std::vector<float>& k,
                       const std::vector<float>& v,
                       float scale) {
    const size_t queries = q.size() / kHeadDim;
    const size_t keys = k.size() / kHeadDim;
    const DeviceArray d_q(q);
    const DeviceArray d_k(k);
    const DeviceArray d_v(v);
    const DeviceArray d_o(q.size());
    const DeviceArray d_weights(queries * keys);
    attend_kernel<S, A, X, W>
        <<<static_cast<unsigned>(queries), 1>>>(d_q.data(),
                                                d_k.data(),
                                                d_v.data(),
                                                d_o.data(),
                                                d_weights.data(),
                                                static_cast<int>(keys),
                                                scale);
    CUDA_CHECK_LAUNCH();
    return d_o.host();
}

/// @tparam H  the 16-bit type that stands for every precision but fp32
template <class S, class H>
std::vector<float> run_narrow(const Choice& choice,
                              const std::vector<float>& q,
                              const std::vector<float>& k,
                              const std::vector<float>& v,
                              float scale) {
    const bool wide_sums = choice.accumulate == Precision::fp32;
    const bool wide_softmax = choice.softmax == Precision::fp32;
    const bool wide_weights = choice.weights == Precision::fp32;
    if (wide_sums && wide_softmax && wide_weights)
        return run<S, float, float, float>(q, k, v, scale);
    if (wide_sums && wide_softmax) return run<S, float, float, H>(q, k, v, scale);
    if (wide_sums) return run<S, float, H, H>(q, k, v, scale);
    if (wide_softmax) return run<S, H, float, float>(q, k, v, scale);
    return run<S, H, H, H>(q, k, v, scale);
}

}  // namespace

std::string name_of(Precision precision) {
    if (precision == Precision::fp32) return "fp32";
    return precision == Precision::fp16 ? "fp16" : "bf16";
}

float rounded(float x, Precision precision) {
    if (precision == Precision::fp16) return __half2float(__float2half(x));
    if (precision == Precision::bf16) return __bfloat162float(__float2bfloat16(x));
    return x;
}

std::vector<Choice> all_choices() {
    std::vector<Choice> choices;
    for (const auto storage : {Precision::fp32, Precision::fp16, Precision::bf16}) {
        const auto narrow = storage == Precision::fp32 ? Precision::fp16 : storage;
        constexpr auto wide = Precision::fp32;
        choices.push_back({storage, wide, wide, wide});
        choices.push_back({storage, wide, wide, narrow});
        choices.push_back({storage, wide, narrow, narrow});
        choices.push_back({storage, narrow, wide, wide});
        choices.push_back({storage, narrow, narrow, narrow});
    }
    return choices;
}

std::vector<float> attend(const Choice& choice,
                          const std::vector<float>& q,
                          const std::vector<float>& k,
                          const std::vector<float>& v,
                          float scale) {
    switch (choice.storage) {
        case Precision::fp16:
            return run_narrow<__half, __half>(choice, q, k, v, scale);
        case Precision::bf16:
            return run_narrow<__nv_bfloat16, __nv_bfloat16>(choice, q, k, v, scale);
        default:
            return run_narrow<float, __half>(choice, q, k, v, scale);
    }
}

std::vector<Demonstration> demonstrate() {
    std::vector<Demonstration> all = {{"1 added 5000 times to 0", {}},
                                      {"1100 added 64 times to 0", {}},
                                      {"exp(12)", {}},
                                      {"exp(-18)", {}},
                                      {"1 + 0.001", {}}};
    const DeviceArray results(all.size());
    for (const auto kernel : {demonstrate_kernel<float>,
                              demonstrate_kernel<__half>,
                              demonstrate_kernel<__nv_bfloat16>}) {
        kernel<<<1, 1>>>(results.data());
        CUDA_CHECK_LAUNCH();
        const auto values = results.host();
        for (size_t i = 0; i < all.size(); ++i)
            all[i].results.push_back(values[i]);
    }
    return all;
}
