// What the compiler calls when an index is outside its array, or an address is not
// aligned as its type demands: -fsanitize=bounds,alignment, with this file in place of
// UndefinedBehaviorSanitizer's runtime. core/undefined.cpp has what else it calls.
//
// Source: the interface is described by LLVM's compiler-rt/lib/ubsan/ubsan_handlers.h.

#include <cstddef>
#include <cstdint>
#include <cstdio>

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
                   simt::detail::Caller caller) {
    char text[256];
    std::snprintf(text,
                  sizeof text,
                  "index %lld of an array of type %s",
                  value_of(*data.index, index),
                  data.array->name);
    simt::check::bad_expression(
        Kind::out_of_bounds, data.place.file, data.place.line, text, caller);
}

void type_mismatch(const TypeMismatch& data,
                   uintptr_t address,
                   simt::detail::Caller caller) {
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
        Kind::misaligned, data.place.file, data.place.line, text, caller);
}

}  // namespace

extern "C" {
void __ubsan_handle_out_of_bounds(OutOfBounds* data, uintptr_t index) {
    out_of_bounds(*data, index, SIMT_CALLER);
}
void __ubsan_handle_type_mismatch_v1(TypeMismatch* data, uintptr_t address) {
    type_mismatch(*data, address, SIMT_CALLER);
}
}
