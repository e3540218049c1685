// Wrong arguments of cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void k(int* p) {
    auto block = cg::this_thread_block();
    // says: a tile has 1, 2, 4
    auto odd = cg::tiled_partition<31>(block);
    // says: no instance of function "tiled_partition<32>" matches the argument types (t
    auto tile = cg::tiled_partition<32>(block, 3);
    block.shfl(1, 1);  // says: has no member named
    // says: no instance of function "reduce" matches the argument types (thread_block,
    *p = cg::reduce(block, *p, cg::plus<int>());
}
