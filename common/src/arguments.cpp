#include <cuda_runtime.h>
#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/errors.h>
#include <wb/scratch.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

namespace wb {
namespace {

[[noreturn]] void refuse(const char* function, const std::string& what) {
    throw InvalidArgument(std::string(function) + ": " + what);
}

}  // namespace

const Arguments& Arguments::require(bool condition,
                                    const char* name,
                                    int64_t value,
                                    const char* requirement) const {
    if (!condition) {
        refuse(function_,
               std::string(name) + " is " + std::to_string(value) + ", but " +
                   requirement);
    }
    return *this;
}

const Arguments& Arguments::require_real(bool condition,
                                         const char* name,
                                         double value,
                                         const char* requirement) const {
    if (!condition) {
        char text[32];  // "%g": not "0.000000" for what is small
        std::snprintf(text, sizeof text, "%g", value);
        refuse(function_, std::string(name) + " is " + text + ", but " + requirement);
    }
    return *this;
}

const Arguments& Arguments::size(const char* name, int64_t value) const {
    return require(value >= 0, name, value, "must be >= 0");
}

const Arguments& Arguments::positive(const char* name, int64_t value) const {
    return require(value >= 1, name, value, "must be >= 1");
}

const Arguments& Arguments::finite(const char* name, double value) const {
    return require_real(std::isfinite(value), name, value, "must be a finite number");
}

const Arguments& Arguments::not_negative(const char* name, double value) const {
    return finite(name, value).require_real(value >= 0.0, name, value, "must be >= 0");
}

const Arguments& Arguments::magnitude(const char* name,
                                      double value,
                                      double most) const {
    char requirement[64];
    std::snprintf(
        requirement, sizeof requirement, "must be from %g to %g", -most, most);
    return finite(name, value)
        .require_real(std::abs(value) <= most, name, value, requirement);
}

const Arguments& Arguments::above_zero(const char* name, double value) const {
    return finite(name, value).require_real(value > 0.0, name, value, "must be > 0");
}

const Arguments& Arguments::apart(const char* names,
                                  const void* x,
                                  int64_t x_bytes,
                                  const void* y,
                                  int64_t y_bytes) const {
    if (x_bytes == 0 || y_bytes == 0) return *this;
    const auto distance = static_cast<int64_t>(reinterpret_cast<std::uintptr_t>(y) -
                                               reinterpret_cast<std::uintptr_t>(x));
    return require(distance >= x_bytes || distance <= -y_bytes,
                   (std::string(names) + " in bytes").c_str(),
                   distance,
                   "the two arrays must not overlap");
}

const Arguments& Arguments::apart(std::initializer_list<NamedArray> arrays) const {
    for (auto a = arrays.begin(); a != arrays.end(); ++a) {
        for (auto b = a + 1; b != arrays.end(); ++b) {
            if (a->begin == nullptr || b->begin == nullptr) continue;
            if (!a->is_written && !b->is_written) continue;
            const std::string names = std::string(b->name) + " - " + a->name;
            apart(names.c_str(), a->begin, a->bytes, b->begin, b->bytes);
        }
    }
    return *this;
}

int64_t Arguments::product(const char* names,
                           std::initializer_list<int64_t> sizes) const {
    int64_t result = 1;
    bool zero = false;
    bool overflow = false;
    std::string factors;
    for (const int64_t s : sizes) {
        factors += (factors.empty() ? "" : " * ") + std::to_string(s);
        if (s < 0)
            refuse(function_,
                   std::string(names) + " has a negative factor: " + factors);
        zero = zero || s == 0;
        overflow = overflow || __builtin_mul_overflow(result, s, &result);
    }
    if (zero) return 0;
    if (overflow) {
        refuse(function_,
               std::string(names) + " = " + factors +
                   " does not fit into 64 bits (at most 2^63 - 1)");
    }
    return result;
}

const Arguments& Arguments::device_bytes(const char* name,
                                         const void* pointer,
                                         int64_t count,
                                         std::size_t alignment) const {
    if (count == 0) return *this;
    if (pointer == nullptr) {
        refuse(function_,
               std::string(name) + " is a null pointer, but " + std::to_string(count) +
                   " elements are to be used");
    }
    cudaPointerAttributes attributes{};
    const cudaError_t error = cudaPointerGetAttributes(&attributes, pointer);
    if (error == cudaErrorInvalidValue) {
        (void)cudaGetLastError();
        attributes.type = cudaMemoryTypeUnregistered;
    } else {
        CUDA_CHECK(error);
    }
    if (attributes.type != cudaMemoryTypeDevice &&
        attributes.type != cudaMemoryTypeManaged && !is_scratch(pointer)) {
        refuse(function_,
               std::string(name) +
                   " is a host pointer, but must point to device memory (cudaMalloc)");
    }
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    if (address % alignment != 0) {
        refuse(function_,
               std::string(name) + " is not aligned to its type: address % " +
                   std::to_string(alignment) + " is " +
                   std::to_string(address % alignment));
    }
    return *this;
}

}  // namespace wb
