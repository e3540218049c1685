#pragma once
// Ranks with streams, buffers and a reference for the tests of NCCL.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <nccl.h>

#include <thread>
#include <vector>

#include "check.h"

#ifdef SIMT_CPU
#include "simt/options.h"
#endif

namespace check {

/// The call must return just this result.
#define EXPECT_NCCL(expected, ...) \
    check::verify((__VA_ARGS__) == (expected), __FILE__, __LINE__, #__VA_ARGS__)
#define NCCL_OK(...) EXPECT_NCCL(ncclSuccess, __VA_ARGS__)

/// NCCL's name of a C++ type.
template <class T>
constexpr ncclDataType_t kType = ncclNumTypes;
template <>
constexpr ncclDataType_t kType<signed char> = ncclInt8;
template <>
constexpr ncclDataType_t kType<unsigned char> = ncclUint8;
template <>
constexpr ncclDataType_t kType<int> = ncclInt32;
template <>
constexpr ncclDataType_t kType<unsigned> = ncclUint32;
template <>
constexpr ncclDataType_t kType<long long> = ncclInt64;
template <>
constexpr ncclDataType_t kType<unsigned long long> = ncclUint64;
template <>
constexpr ncclDataType_t kType<__half> = ncclFloat16;
template <>
constexpr ncclDataType_t kType<__nv_bfloat16> = ncclBfloat16;
template <>
constexpr ncclDataType_t kType<float> = ncclFloat32;
template <>
constexpr ncclDataType_t kType<double> = ncclFloat64;

template <class T>
double number(T value) {
    if constexpr (sizeof(T) == 2)
        return static_cast<double>(static_cast<float>(value));
    else
        return static_cast<double>(value);
}
template <class T>
T element(double value) {
    if constexpr (sizeof(T) == 2)
        return T(static_cast<float>(value));
    else
        return static_cast<T>(value);
}

/// How many devices there are for tests, 4 at most.
inline int devices() {
#ifdef SIMT_CPU
    return 4;
#else
    int count = 0;
    OK(cudaGetDeviceCount(&count));
    return count < 4 ? count : 4;
#endif
}

/// Communicators of one host thread, and a stream on each device.
struct Ranks {
    int size;
    std::vector<ncclComm_t> comms;
    std::vector<cudaStream_t> streams;

    explicit Ranks(int n) : size(n), comms(n), streams(n) {
#ifdef SIMT_CPU
        simt::set_devices(n);
#endif
        for (int rank = 0; rank < n; ++rank) {
            OK(cudaSetDevice(rank));
            OK(cudaStreamCreate(&streams[rank]));
        }
        NCCL_OK(ncclCommInitAll(comms.data(), n, nullptr));
    }
    Ranks(const Ranks&) = delete;
    ~Ranks() {
        for (int rank = 0; rank < size; ++rank) {
            OK(cudaSetDevice(rank));
            OK(cudaStreamSynchronize(streams[rank]));
            OK(cudaStreamDestroy(streams[rank]));
            if (comms[rank]) NCCL_OK(ncclCommDestroy(comms[rank]));
        }
        OK(cudaSetDevice(0));
#ifdef SIMT_CPU
        simt::set_devices(1);
#endif
    }
    void synchronize() {
        for (int rank = 0; rank < size; ++rank) {
            OK(cudaSetDevice(rank));
            OK(cudaStreamSynchronize(streams[rank]));
        }
    }
};

/// Values in the memory of each device.
template <class T>
struct Buffers {
    std::vector<T*> p;
    size_t count;
    Buffers(int ranks, size_t n) : p(ranks), count(n) {
        for (int rank = 0; rank < ranks; ++rank) {
            OK(cudaSetDevice(rank));
            OK(cudaMalloc(&p[rank], n * sizeof(T)));
        }
    }
    Buffers(const Buffers&) = delete;
    ~Buffers() {
        for (T* pointer : p)
            OK(cudaFree(pointer));
    }
    void set(int rank, const std::vector<T>& values) {
        OK(cudaMemcpy(
            p[rank], values.data(), values.size() * sizeof(T), cudaMemcpyDefault));
    }
    std::vector<T> get(int rank) const {
        std::vector<T> values(count);
        OK(cudaMemcpy(values.data(), p[rank], count * sizeof(T), cudaMemcpyDefault));
        return values;
    }
};

/// Small whole numbers, of which sums and products are exact in every type.
inline double value_of(int rank, size_t i) {
    return static_cast<double>((static_cast<size_t>(rank) * 5 + i * 3) % 4 + 1);
}
template <class T>
std::vector<T> values_of(int rank, size_t n) {
    std::vector<T> values(n);
    for (size_t i = 0; i < n; ++i)
        values[i] = element<T>(value_of(rank, i));
    return values;
}

/// What the ranks' elements i become.
inline double combined(ncclRedOp_t op, int ranks, size_t i) {
    double result = value_of(0, i);
    for (int rank = 1; rank < ranks; ++rank) {
        const double x = value_of(rank, i);
        if (op == ncclProd)
            result *= x;
        else if (op == ncclMax)
            result = x > result ? x : result;
        else if (op == ncclMin)
            result = x < result ? x : result;
        else
            result += x;
    }
    return op == ncclAvg ? result / ranks : result;
}

/// True if got[i] is expected(i), rounded down for whole numbers.
template <class T, class Expected>
bool all_are(const std::vector<T>& got, Expected expected) {
    for (size_t i = 0; i < got.size(); ++i)
        if (number(got[i]) != number(element<T>(expected(i)))) return false;
    return true;
}

}  // namespace check

using check::all_are;
using check::Buffers;
using check::combined;
using check::kType;
using check::Ranks;
using check::value_of;
using check::values_of;
