/// fusions.h: given with "Go faster": fusion_of(), which stage 1 asks you to write.
/// There is nothing to write here; it is included where the contract is.
#pragma once

#include "checks.h"

/// How often the result of a node is read; reads outside of the block count, too.
inline int reads_of(const Node* nodes, int count, int node) {
    int reads = nodes[node].is_wanted ? 1 : 0;
    for (int i = 0; i < count; ++i)
        reads += (nodes[i].a == node ? 1 : 0) + (nodes[i].b == node ? 1 : 0);
    return reads;
}

Fusion fusion_of(const Node* nodes, int count, int first, int second) {
    check_nodes(nodes, count, first, second);
    const Op ops[] = {nodes[first].op, nodes[second].op};
    const bool is_direct = nodes[second].a == first || nodes[second].b == first;
    if (!is_direct) return Fusion::none;
    if (ops[0] == Op::add && ops[1] == Op::norm) return Fusion::add_then_norm;
    const bool is_last = ops[0] == Op::norm && ops[1] == Op::add;
    if (is_last && reads_of(nodes, count, first) == 1) return Fusion::norm_then_add;
    return Fusion::none;
}
