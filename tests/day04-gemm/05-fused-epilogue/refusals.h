// What the functions of the fused epilogue must refuse, in terms of one argument.
#pragma once

#include <wb/testing/grader.h>
#include <wb/testing/refuses.h>

#include <string>
#include <type_traits>
#include <utility>

#include "grading.h"

namespace fused_epilogue_grading {

using wb::testing::misaligned;

inline constexpr int64_t kHuge = int64_t{1} << 61;
inline constexpr int64_t kTooMany = int64_t{1} << 31;
inline double kHost[64];  // memory of the host

/// Ten places in device memory, 256 elements apart.
struct Places {
    Grader memory;
    Bf16* first;

    explicit Places(const char* function)
        : memory(function, "wrong arguments"),
          first(memory.output<Bf16>("memory", {10 * 256})) {}
    Bf16* operator[](int i) const { return first + 256 * i; }
};

/// 4 rows of 8 inputs and 6 outputs, rows further apart than they are long.
inline constexpr LinearShape kShape = {4, 6, 8, 9, 10, 7};

/// What all functions with a LinearShape refuse.
template <class R>
void refuse_shapes(R& refuse) {
    refuse("shape.M is -1", [](auto& a) { a.in.shape.M = -1; });
    refuse("shape.N is -1", [](auto& a) { a.in.shape.N = -1; });
    refuse("shape.K is -1", [](auto& a) { a.in.shape.K = -1; });
    refuse("shape.M is 2147483648", [](auto& a) { a.in.shape.M = kTooMany; });
    refuse("shape.N is 2147483648", [](auto& a) { a.in.shape.N = kTooMany; });
    refuse("shape.K is 2147483648", [](auto& a) { a.in.shape.K = kTooMany; });
    refuse("shape.ldx is 7", [](auto& a) { a.in.shape.ldx = 7; });
    refuse("shape.ldw is 7", [](auto& a) { a.in.shape.ldw = 7; });
    refuse("shape.ldy is 5", [](auto& a) { a.in.shape.ldy = 5; });
    refuse("4 * 2305843009213693952 * 2", [](auto& a) { a.in.shape.ldx = kHuge; });
    refuse("6 * 2305843009213693952 * 2", [](auto& a) { a.in.shape.ldw = kHuge; });
    refuse("4 * 2305843009213693952 * 2", [](auto& a) { a.in.shape.ldy = kHuge; });
    refuse("activation is 3",
           [](auto& a) { a.in.activation = static_cast<Activation>(3); });
}

/// The type of a member of the arguments.
template <class R, class Member>
using PointerOf =
    std::remove_reference_t<decltype(std::declval<Member>()(std::declval<R&>().right))>;

/// What is said of a pointer that is null, the host's, or misaligned; of one that may
/// be null, too.
template <class R, class Member>
void refuse_pointer(R& refuse,
                    const std::string& name,
                    bool may_be_null,
                    Member member) {
    using Pointer = PointerOf<R, Member>;
    if (!may_be_null)
        refuse((name + " is a null pointer").c_str(),
               [&](auto& a) { member(a) = nullptr; });
    refuse((name + " is a host pointer").c_str(),
           [&](auto& a) { member(a) = reinterpret_cast<Pointer>(kHost); });
    if constexpr (alignof(std::remove_pointer_t<Pointer>) > 1)
        refuse((name + " is not aligned").c_str(),
               [&](auto& a) { member(a) = misaligned(member(a)); });
}

/// The output's first element on the last one of an input, and the other way round.
template <class R, class Output, class Input>
void refuse_overlap(R& refuse,
                    const std::string& names,
                    Output output,
                    int64_t output_extent,
                    Input input,
                    int64_t input_extent) {
    using Out = PointerOf<R, Output>;
    using In = PointerOf<R, Input>;
    const auto align = [](uintptr_t address, auto* of) {
        return address / alignof(decltype(*of)) * alignof(decltype(*of));
    };
    refuse(names.c_str(), [&](auto& a) {
        const auto last = reinterpret_cast<uintptr_t>(input(a) + input_extent - 1);
        output(a) = reinterpret_cast<Out>(align(last, output(a)));
    });
    refuse(names.c_str(), [&](auto& a) {
        const auto last = reinterpret_cast<uintptr_t>(output(a) + output_extent - 1);
        input(a) = reinterpret_cast<In>(align(last, input(a)));
    });
}

}  // namespace fused_epilogue_grading
