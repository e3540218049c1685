#include <cuda_fp16.h>
#include <wb/check.h>
#include <wb/errors.h>
#include <wb/loaded_values.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace wb {
namespace {

/// What is on the host at one time.
constexpr int64_t kBytesAtATime = int64_t{1} << 20;

/// Calls each(bytes, first, count) for the bytes of a device array, some at a time, in
/// their order, until one of the calls returns false.
template <class Each>
void each_piece(const void* begin, int64_t bytes, cudaStream_t stream, Each each) {
    std::vector<unsigned char> piece;
    for (int64_t first = 0; first < bytes; first += kBytesAtATime) {
        const int64_t count = std::min(kBytesAtATime, bytes - first);
        piece.resize(static_cast<std::size_t>(count));
        CUDA_CHECK(cudaMemcpyAsync(piece.data(),
                                   static_cast<const unsigned char*>(begin) + first,
                                   piece.size(),
                                   cudaMemcpyDeviceToHost,
                                   stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
        if (!each(piece.data(), first, count)) return;
    }
}

template <class T>
T read(const unsigned char* bytes, int64_t place) {
    T value;
    std::memcpy(&value, bytes + place * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return value;
}

int64_t bytes_of(ScaleType type) {
    if (type == ScaleType::fp32) return 4;
    return type == ScaleType::fp16 ? 2 : 1;
}

/// A scale; of a byte only whether it is 0, NaN, or 1, which stands for all others.
double scale_at(const unsigned char* bytes, int64_t place, ScaleType type) {
    if (type == ScaleType::fp32) return double{read<float>(bytes, place)};
    if (type == ScaleType::fp16)
        return double{static_cast<float>(read<__half>(bytes, place))};
    const int byte = bytes[place];
    const bool is_nan = type == ScaleType::e8m0 ? byte == 0xFF : (byte & 0x7F) == 0x7F;
    if (is_nan) return std::numeric_limits<double>::quiet_NaN();
    return type == ScaleType::e4m3 && (byte & 0x7F) == 0 ? 0.0 : 1.0;
}

[[noreturn]] void refuse_value(const char* function,
                               const char* name,
                               int64_t place,
                               const std::string& rest) {
    throw InvalidArgument(std::string(function) + ": " + name + "[" +
                          std::to_string(place) + "] is " + rest);
}

/// The first group of [begin, end) that has a number other than 0; end: none has.
int64_t group_with_numbers(const LoadedScales& s,
                           int64_t begin,
                           int64_t end,
                           cudaStream_t stream) {
    int64_t found = end;
    each_piece(static_cast<const unsigned char*>(s.numbers) + begin * s.bytes_of_group,
               (end - begin) * s.bytes_of_group,
               stream,
               [&](const unsigned char* bytes, int64_t first, int64_t count) {
                   for (int64_t i = 0; i < count; ++i) {
                       if ((bytes[i] & s.digits) == 0) continue;
                       found = begin + (first + i) / s.bytes_of_group;
                       return false;
                   }
                   return true;
               });
    return found;
}

}  // namespace

void check_scales(const char* function, const LoadedScales& s, cudaStream_t stream) {
    const int64_t size = bytes_of(s.type);
    each_piece(
        s.begin,
        s.count * size,
        stream,
        [&](const unsigned char* bytes, int64_t first, int64_t count) {
            const int64_t before = first / size;
            for (int64_t i = 0; i < count / size; ++i) {
                const double scale = scale_at(bytes, i, s.type);
                if (std::isnan(scale))
                    refuse_value(
                        function, s.name, before + i, "NaN, but must be a number");
                if (std::isinf(scale))
                    refuse_value(function,
                                 s.name,
                                 before + i,
                                 scale > 0.0 ? "infinity, but must be finite"
                                             : "-infinity, but must be finite");
                if (scale != 0.0) continue;
                if (s.numbers == nullptr)
                    refuse_value(function, s.name, before + i, "0, but must not be");
                // All zeros that follow each other, with one look.
                int64_t end = i + 1;
                while (end < count / size && scale_at(bytes, end, s.type) == 0.0)
                    ++end;
                const int64_t group =
                    group_with_numbers(s, before + i, before + end, stream);
                if (group < before + end)
                    refuse_value(function,
                                 s.name,
                                 group,
                                 "0, but must not be: not all of its numbers are 0");
                i = end - 1;
            }
            return true;
        });
}

void check_indices(const char* function,
                   const char* name,
                   const int32_t* indices,
                   int64_t count,
                   int64_t limit,
                   cudaStream_t stream) {
    constexpr int64_t kSize = sizeof(int32_t);
    each_piece(indices,
               count * kSize,
               stream,
               [&](const unsigned char* bytes, int64_t first, int64_t of_piece) {
                   for (int64_t i = 0; i < of_piece / kSize; ++i) {
                       const int64_t index = read<int32_t>(bytes, i);
                       if (index >= 0 && index < limit) continue;
                       refuse_value(function,
                                    name,
                                    first / kSize + i,
                                    std::to_string(index) + ", but must be from 0 to " +
                                        std::to_string(limit - 1));
                   }
                   return true;
               });
}

}  // namespace wb
