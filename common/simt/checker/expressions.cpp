// What the compiler calls when an index is outside its array, an address is not aligned
// as its type demands, or C++ leaves open what a shift or a conversion gives:
// -fsanitize=bounds,alignment,shift-exponent,float-cast-overflow, with this file in
// place of UndefinedBehaviorSanitizer's runtime.
//
// Source: the interface is described by LLVM's compiler-rt/lib/ubsan/ubsan_handlers.h.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "checker.h"
#include "findings.h"

namespace {

struct SourceLocation {
    const char* file;
    uint32_t line;
    uint32_t column;
};
struct TypeDescriptor {
    uint16_t kind;  // 0: an integer
    uint16_t info;  // of an integer: bit 0: signed; the rest: log2 of its bits
    char name[1];
};
struct OutOfBounds {
    SourceLocation place;
    const TypeDescriptor* array;
    const TypeDescriptor* index;
};
struct Shift {
    SourceLocation place;
    const TypeDescriptor* value;
    const TypeDescriptor* count;
};
struct Conversion {
    SourceLocation place;
    const TypeDescriptor* from;
    const TypeDescriptor* to;
};
struct TypeMismatch {
    SourceLocation place;
    const TypeDescriptor* type;
    uint8_t log_alignment;
    uint8_t kind;  // of access
};

using simt::check::Kind;

/// The value of an index as its type has it.
long long value_of(const TypeDescriptor& type, uintptr_t bits) {
    const unsigned width = 1u << (type.info >> 1);
    if (type.kind != 0 || width >= 64 || !(type.info & 1))
        return static_cast<long long>(bits);
    const unsigned unused = 64 - width;
    return static_cast<long long>(bits << unused) >> unused;
}

void out_of_bounds(const OutOfBounds& data,
                   uintptr_t index,
                   uintptr_t pc,
                   void* const* frame) {
    char text[256];
    std::snprintf(text,
                  sizeof text,
                  "index %lld of an array of type %s",
                  value_of(*data.index, index),
                  data.array->name);
    simt::check::bad_expression(
        Kind::out_of_bounds, data.place.file, data.place.line, text, pc, frame);
}

/// A GPU shifts by more bits than there are as by all of them; a CPU takes the count
/// modulo 32 or 64.
void shift(const Shift& data, uintptr_t count, uintptr_t pc, void* const* frame) {
    char text[256];
    std::snprintf(text,
                  sizeof text,
                  "a shift of type %s by %lld bits; a GPU shifts all bits out, the "
                  "result here differs",
                  data.value->name,
                  value_of(*data.count, count));
    simt::check::bad_expression(
        Kind::undefined, data.place.file, data.place.line, text, pc, frame);
}

/// A GPU takes the nearest value that an integer of 32 or 64 bits has, and 0 for NaN.
void conversion(const Conversion& data,
                uintptr_t bits,
                uintptr_t pc,
                void* const* frame) {
    double value = 0;
    const bool is_double = data.from->info == 64;
    if (is_double) {
        std::memcpy(&value, &bits, sizeof value);
    } else {
        float single;
        std::memcpy(&single, &bits, sizeof single);
        value = double{single};
    }
    char text[256];
    const bool narrow = data.to->info >> 1 < 5;  // less than 2^5 bits
    std::snprintf(text,
                  sizeof text,
                  "%g as %s, which cannot hold it; %s",
                  value,
                  data.to->name,
                  narrow ? "the result may differ on a GPU"
                         : "a GPU gives the nearest value that it can (0 for NaN), the "
                           "result here differs");
    simt::check::bad_expression(
        Kind::undefined, data.place.file, data.place.line, text, pc, frame);
}

void type_mismatch(const TypeMismatch& data,
                   uintptr_t address,
                   uintptr_t pc,
                   void* const* frame) {
    const uintptr_t alignment = uintptr_t{1} << data.log_alignment;
    if (address % alignment == 0) return;
    char text[256];
    std::snprintf(text,
                  sizeof text,
                  "a %s at an address that is no multiple of %zu (it is %zu more)",
                  data.type->name,
                  static_cast<size_t>(alignment),
                  static_cast<size_t>(address % alignment));
    simt::check::bad_expression(
        Kind::misaligned, data.place.file, data.place.line, text, pc, frame);
}

}  // namespace

#define SIMT_CALLER                                           \
    reinterpret_cast<uintptr_t>(__builtin_return_address(0)), \
        static_cast<void* const*>(__builtin_frame_address(0))

extern "C" {
void __ubsan_handle_out_of_bounds(OutOfBounds* data, uintptr_t index) {
    out_of_bounds(*data, index, SIMT_CALLER);
}
void __ubsan_handle_shift_out_of_bounds(Shift* data, uintptr_t, uintptr_t count) {
    shift(*data, count, SIMT_CALLER);
}
void __ubsan_handle_float_cast_overflow(Conversion* data, uintptr_t value) {
    conversion(*data, value, SIMT_CALLER);
}
void __ubsan_handle_type_mismatch_v1(TypeMismatch* data, uintptr_t address) {
    type_mismatch(*data, address, SIMT_CALLER);
}
}
