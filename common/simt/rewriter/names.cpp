// Functions, types and variables called like something that is new in C++20's
// namespace std.
#include "names.h"

#include <algorithm>
#include <set>

namespace rewriter {
namespace {

const std::set<std::string_view> kNewNames = {"assignable_from",
                                              "assume_aligned",
                                              "atomic_ref",
                                              "barrier",
                                              "binary_semaphore",
                                              "bind_front",
                                              "bit_cast",
                                              "bit_ceil",
                                              "bit_floor",
                                              "bit_width",
                                              "bitwise_and",
                                              "cmp_equal",
                                              "cmp_greater",
                                              "cmp_less",
                                              "common_with",
                                              "common_reference",
                                              "constructible_from",
                                              "construct_at",
                                              "convertible_to",
                                              "copy_constructible",
                                              "copyable",
                                              "counting_semaphore",
                                              "countl_one",
                                              "countl_zero",
                                              "countr_one",
                                              "countr_zero",
                                              "default_initializable",
                                              "derived_from",
                                              "destructible",
                                              "endian",
                                              "equality_comparable",
                                              "equivalence_relation",
                                              "erase",
                                              "erase_if",
                                              "floating_point",
                                              "has_single_bit",
                                              "identity",
                                              "in_range",
                                              "incrementable",
                                              "input_iterator",
                                              "integral",
                                              "invocable",
                                              "is_constant_evaluated",
                                              "is_eq",
                                              "is_gt",
                                              "is_lt",
                                              "jthread",
                                              "latch",
                                              "lerp",
                                              "mergeable",
                                              "midpoint",
                                              "movable",
                                              "move_constructible",
                                              "numbers",
                                              "partial_order",
                                              "partial_ordering",
                                              "permutable",
                                              "popcount",
                                              "predicate",
                                              "projected",
                                              "ranges",
                                              "regular",
                                              "regular_invocable",
                                              "relation",
                                              "remove_cvref",
                                              "rotl",
                                              "rotr",
                                              "same_as",
                                              "semiregular",
                                              "shift_left",
                                              "shift_right",
                                              "signed_integral",
                                              "sortable",
                                              "source_location",
                                              "span",
                                              "ssize",
                                              "stop_token",
                                              "strict_weak_order",
                                              "strong_order",
                                              "strong_ordering",
                                              "swappable",
                                              "swappable_with",
                                              "three_way_comparable",
                                              "to_address",
                                              "to_array",
                                              "totally_ordered",
                                              "type_identity",
                                              "unreachable_sentinel",
                                              "unsigned_integral",
                                              "views",
                                              "weak_order",
                                              "weak_ordering"};

bool uses_namespace_std(const Source& source) {
    for (size_t i = 0; i + 2 < source.size(); ++i) {
        if (source.is(i, "using") && source.is(i + 1, "namespace") &&
            source.is(i + 2, "std") && !source.in_system_header(i)) {
            return true;
        }
    }
    return false;
}

/// Does token i, in a namespace and outside of brackets, declare a type or a variable?
bool declares(const Source& source, size_t i) {
    if (source.is_any(i - 1, {"struct", "class", "union", "enum"}))
        return source.is_any(i + 1, {"{", ":", ";", "final"});
    if (source.is(i - 1, "using")) return source.is(i + 1, "=");
    if (source.is(i - 1, "namespace") || !source.is_any(i + 1, {";", "=", "[", "{"}))
        return false;
    return source.is_identifier(i - 1) || source.is_any(i - 1, {"*", "&", ">", ","});
}

}  // namespace

bool rename_new_std_names(Source& source, const Structure& structure) {
    std::set<std::string_view> clashing;
    for (const Function& f : structure.functions()) {
        const bool global = structure.scopes()[f.scope].kind == ScopeKind::name_space;
        if (global && kNewNames.contains(f.name) &&
            !source.in_system_header(f.name_token)) {
            clashing.insert(f.name);
        }
    }
    for (const TokenRange& range : source.user_tokens()) {
        int brackets = 0;
        for (size_t i = std::max<size_t>(range.first, 1); i < range.last; ++i) {
            brackets += source.is(i, "(") - source.is(i, ")");
            if (brackets == 0 && kNewNames.contains(source.text(i)) &&
                structure.scope_of(i).kind == ScopeKind::name_space &&
                declares(source, i))
                clashing.insert(source.text(i));
        }
    }
    if (clashing.empty() || !uses_namespace_std(source)) return false;
    for (size_t i = 0; i < source.size(); ++i) {
        if (!clashing.contains(source.text(i)) || source.in_system_header(i)) continue;
        const bool of_std = i > 1 && source.is(i - 1, "::") && source.is(i - 2, "std");
        if (!of_std) source.insert_after(i, "_");
    }
    return true;
}

}  // namespace rewriter
