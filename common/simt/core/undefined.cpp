// What the compiler calls where C++ leaves open what a shift or a conversion gives:
// -fsanitize=shift-exponent,float-cast-overflow, with this file in place of
// UndefinedBehaviorSanitizer's runtime. A GPU has an answer, and a CPU another one: a
// program that counts on the GPU's is told so, once a line. The checker reports each.
//
// Source: the interface is described by LLVM's compiler-rt/lib/ubsan/ubsan_handlers.h.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "fault.h"
#include "observer.h"
#include "scheduler.h"
#include "simt/saturating.h"

namespace simt::detail {
namespace {

struct SourceLocation {
    const char* file;
    uint32_t line, column;
};
struct TypeDescriptor {
    uint16_t kind;
    uint16_t info;  // bits of a float; of an integer: 2 * log2(bits) + is signed
    char name[1];

    int bits() const { return 1 << (info >> 1); }
    bool is_signed() const { return info & 1; }
};
/// Of a shift: its value and count. Of a conversion: from and to.
struct OpenOperation {
    SourceLocation place;
    const TypeDescriptor* first;
    const TypeDescriptor* second;
};

/// An integer as the CPU makes it and as a GPU does, extended to 64 bits.
struct Answers {
    uint64_t here, gpu;
};

template <class To, class From>
Answers answers(From value) {
    const volatile From v = value;  // what the processor does, not the compiler
    // cvt.rzi: a GPU has no conversions to less than 32 bits.
    using Wide = std::conditional_t<sizeof(To) >= 4,
                                    To,
                                    std::conditional_t<To(-1) < To(0), int, unsigned>>;
    return {static_cast<uint64_t>(static_cast<To>(v)),
            static_cast<uint64_t>(static_cast<To>(
                saturating<Wide>(static_cast<From>(__builtin_trunc(value)))))};
}

template <class From>
Answers answers_as(const TypeDescriptor& to, From value) {
    switch (to.bits()) {
        case 8:
            return to.is_signed() ? answers<int8_t>(value) : answers<uint8_t>(value);
        case 16:
            return to.is_signed() ? answers<int16_t>(value) : answers<uint16_t>(value);
        case 32:
            return to.is_signed() ? answers<int32_t>(value) : answers<uint32_t>(value);
        default:
            return to.is_signed() ? answers<int64_t>(value) : answers<uint64_t>(value);
    }
}

std::string integer(const TypeDescriptor& type, uint64_t bits) {
    return type.is_signed() ? std::to_string(static_cast<int64_t>(bits))
                            : std::to_string(bits);
}

/// Sign-extends what a type of fewer bits than 64 holds.
int64_t value_of(const TypeDescriptor& type, uint64_t bits) {
    const int unused = 64 - std::min(type.bits(), 64);
    return type.is_signed() ? static_cast<int64_t>(bits << unused) >> unused
                            : static_cast<int64_t>(bits << unused >> unused);
}

/// Tells the checker, or else warns once.
///
/// @param differs  a GPU gives another answer
void say(OpenOperation& operation,
         bool differs,
         const std::string& text,
         Caller caller) {
    const SourceLocation& at = operation.place;
    if (observer)
        observer->undefined_value(at.file, at.line, text.c_str(), caller);
    else if (differs &&
             __atomic_exchange_n(&operation.place.column, 0, __ATOMIC_RELAXED))
        warn(*worker->launch, at.file, static_cast<int>(at.line), text);
}

void shift(OpenOperation& data, uint64_t value, uint64_t count, Caller caller) {
    const long long by = value_of(*data.second, count);
    say(data,
        value_of(*data.first, value) != 0,
        format("a shift of type %s by %lld bits; a GPU shifts all bits out, the result "
               "here is that of a shift by %lld",
               data.first->name,
               by,
               by & (data.first->bits() - 1)),
        caller);
}

void conversion(OpenOperation& data, uint64_t bits, Caller caller) {
    const TypeDescriptor& to = *data.second;
    if (data.first->info > 64 || to.bits() > 64) return;  // types that no GPU has
    const bool is_double = data.first->info == 64;
    float single = 0;
    std::memcpy(&single, &bits, sizeof single);
    double value = double{single};
    if (is_double) std::memcpy(&value, &bits, sizeof value);
    const Answers a = is_double ? answers_as(to, value) : answers_as(to, single);
    std::string text = value != value ? "NaN" : format("%g", value);
    text += format(" as %s, which cannot hold it; a GPU gives ", to.name);
    text += integer(to, a.gpu);
    text +=
        a.here == a.gpu ? ", as here" : ", the result here is " + integer(to, a.here);
    say(data, a.here != a.gpu, text, caller);
}

/// Calls f on behalf of a kernel's thread. Host code may do as it likes, and a place
/// that has been warned of is marked: its column, which nobody reads, is 0.
template <class F>
void in_kernels(const OpenOperation& operation, F f) {
    Worker* const w = worker;
    if (!w || !w->thread || w->in_runtime) return;
    if (!observer && !operation.place.column) return;
    w->in_runtime = true;
    f();
    w->in_runtime = false;
}

}  // namespace
}  // namespace simt::detail

// Weak: a program may bring the compiler's own runtime along.
extern "C" {
__attribute__((weak)) void __ubsan_handle_shift_out_of_bounds(void* data,
                                                              uintptr_t value,
                                                              uintptr_t count) {
    using namespace simt::detail;
    auto& operation = *static_cast<OpenOperation*>(data);
    in_kernels(operation,
               [&, caller = SIMT_CALLER] { shift(operation, value, count, caller); });
}
__attribute__((weak)) void __ubsan_handle_float_cast_overflow(void* data,
                                                              uintptr_t value) {
    using namespace simt::detail;
    auto& operation = *static_cast<OpenOperation*>(data);
    in_kernels(operation,
               [&, caller = SIMT_CALLER] { conversion(operation, value, caller); });
}
}
