// Functions called like something that is new in C++20's namespace std.
#include "names.h"

#include <set>

namespace rewriter {
namespace {

const std::set<std::string_view> kNewNames = {"assignable_from",
                                              "assume_aligned",
                                              "barrier",
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
                                              "latch",
                                              "lerp",
                                              "mergeable",
                                              "midpoint",
                                              "movable",
                                              "move_constructible",
                                              "numbers",
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
                                              "span",
                                              "ssize",
                                              "strict_weak_order",
                                              "strong_order",
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
                                              "weak_order"};

bool uses_namespace_std(const Source& source) {
    for (size_t i = 0; i + 2 < source.size(); ++i) {
        if (source.is(i, "using") && source.is(i + 1, "namespace") &&
            source.is(i + 2, "std") && !source.in_system_header(i)) {
            return true;
        }
    }
    return false;
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
    if (clashing.empty() || !uses_namespace_std(source)) return false;
    for (size_t i = 0; i < source.size(); ++i) {
        if (!clashing.contains(source.text(i)) || source.in_system_header(i)) continue;
        const bool of_std = i > 1 && source.is(i - 1, "::") && source.is(i - 2, "std");
        if (!of_std) source.insert_after(i, "_");
    }
    return true;
}

}  // namespace rewriter
