// Sums over ranks, as a ring makes them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "clique.h"

namespace simt::nccl {
namespace {

template <class T>
constexpr bool kIs16 = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

/// What a sum of two is computed in before it is rounded.
template <class T>
using Wide = std::conditional_t<kIs16<T>, float, T>;

template <class T>
T combine(T a, T b, ncclRedOp_t op) {
    const auto x = static_cast<Wide<T>>(a), y = static_cast<Wide<T>>(b);
    switch (op) {
        case ncclProd:
            if constexpr (std::is_integral_v<T>)
                return static_cast<T>(static_cast<uint64_t>(x) *
                                      static_cast<uint64_t>(y));
            else
                return static_cast<T>(x * y);
        case ncclMax:
            if constexpr (std::is_integral_v<T>)
                return std::max(a, b);
            else
                return static_cast<T>(std::fmax(x, y));
        case ncclMin:
            if constexpr (std::is_integral_v<T>)
                return std::min(a, b);
            else
                return static_cast<T>(std::fmin(x, y));
        default:
            if constexpr (std::is_integral_v<T>)  // which may overflow, as on a GPU
                return static_cast<T>(static_cast<uint64_t>(x) +
                                      static_cast<uint64_t>(y));
            else
                return static_cast<T>(x + y);
    }
}

/// A share of the mean: NCCL scales floats before it adds them.
template <class T>
T scaled(T value, size_t ranks, ncclRedOp_t op) {
    if (op != ncclAvg || std::is_integral_v<T>) return value;
    using W = Wide<T>;
    const W share = static_cast<W>(static_cast<T>(W(1) / static_cast<W>(ranks)));
    return static_cast<T>(static_cast<W>(value) * share);
}

template <class T>
void reduce(const std::vector<const char*>& inputs, char* result, size_t count,
            ncclRedOp_t op) {
    const size_t ranks = inputs.size();
    const size_t chunk = (count + ranks - 1) / ranks;
    auto* to = reinterpret_cast<T*>(result);
    for (size_t i = 0; i < count; ++i) {
        T sum{};
        for (size_t step = 1; step <= ranks; ++step) {
            const size_t rank = (i / chunk + step) % ranks;
            const T value =
                scaled(reinterpret_cast<const T*>(inputs[rank])[i], ranks, op);
            sum = step == 1 ? value : combine(sum, value, op);
        }
        if constexpr (std::is_integral_v<T>)
            if (op == ncclAvg)  // its sign, too, is the elements'
                sum = static_cast<T>(sum /
                                     static_cast<std::make_signed_t<size_t>>(ranks));
        to[i] = sum;
    }
}

}  // namespace

size_t size_of(ncclDataType_t type) {
    switch (type) {
        case ncclInt8:
        case ncclUint8:
        case ncclFloat8e4m3:
        case ncclFloat8e5m2:
            return 1;
        case ncclFloat16:
        case ncclBfloat16:
            return 2;
        case ncclInt32:
        case ncclUint32:
        case ncclFloat32:
            return 4;
        case ncclInt64:
        case ncclUint64:
        case ncclFloat64:
            return 8;
        default:
            return 0;
    }
}

bool is_number(ncclDataType_t type) {
    return type != ncclFloat8e4m3 && type != ncclFloat8e5m2;
}

const char* name_of(ncclDataType_t type) {
    constexpr const char* kNames[ncclNumTypes] = {
        "ncclInt8",    "ncclUint8",    "ncclInt32",      "ncclUint32",
        "ncclInt64",   "ncclUint64",   "ncclFloat16",    "ncclFloat32",
        "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
    return kNames[type];
}

const char* name_of(ncclRedOp_t op) {
    constexpr const char* kNames[ncclNumOps] = {"ncclSum", "ncclProd", "ncclMax",
                                                "ncclMin", "ncclAvg"};
    return kNames[op];
}

void reduce(const std::vector<const char*>& inputs, char* result, size_t count,
            ncclDataType_t type, ncclRedOp_t op) {
    switch (type) {
        case ncclInt8:
            return reduce<int8_t>(inputs, result, count, op);
        case ncclUint8:
            return reduce<uint8_t>(inputs, result, count, op);
        case ncclInt32:
            return reduce<int32_t>(inputs, result, count, op);
        case ncclUint32:
            return reduce<uint32_t>(inputs, result, count, op);
        case ncclInt64:
            return reduce<int64_t>(inputs, result, count, op);
        case ncclUint64:
            return reduce<uint64_t>(inputs, result, count, op);
        case ncclFloat16:
            return reduce<__half>(inputs, result, count, op);
        case ncclFloat32:
            return reduce<float>(inputs, result, count, op);
        case ncclFloat64:
            return reduce<double>(inputs, result, count, op);
        case ncclBfloat16:
            return reduce<__nv_bfloat16>(inputs, result, count, op);
        default:
            return;
    }
}

}  // namespace simt::nccl
