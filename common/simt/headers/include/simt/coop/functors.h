/// simt/coop/functors.h: the operators of cg::reduce and the scans.
#pragma once

namespace cooperative_groups {

#define SIMT_GROUP_OPERATOR(NAME, EXPRESSION)               \
    template <class T>                                      \
    struct NAME {                                           \
        T operator()(T a, T b) const { return EXPRESSION; } \
    };
SIMT_GROUP_OPERATOR(plus, a + b)
SIMT_GROUP_OPERATOR(less, b < a ? b : a)
SIMT_GROUP_OPERATOR(greater, a < b ? b : a)
SIMT_GROUP_OPERATOR(bit_and, a& b)
SIMT_GROUP_OPERATOR(bit_or, a | b)
SIMT_GROUP_OPERATOR(bit_xor, a ^ b)
#undef SIMT_GROUP_OPERATOR

}  // namespace cooperative_groups
