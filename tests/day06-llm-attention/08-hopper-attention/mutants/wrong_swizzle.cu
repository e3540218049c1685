// Mutant: tells wgmma that tiles are not swizzled
// Rejected by: numbers of rows and keys around the tiles' sizes
#include "right.h"

struct Wrong : Right {
    template <class Tiling>
    static __device__ void scores(float (&s)[Tiling::kKeys / 2],
                                  const unsigned char* q,
                                  const unsigned char* k) {
        using namespace wb::ptx;
        constexpr uint64_t kSwizzle = uint64_t{3} << 62;
        const uint64_t q_tile = wgmma_descriptor(shared_address(q)) & ~kSwizzle;
        const uint64_t k_tile = wgmma_descriptor(shared_address(k)) & ~kSwizzle;
        for (int i = 0; i < 4; ++i)
            wgmma<typename Tiling::T>(s, q_tile + 2 * i, k_tile + 2 * i, i > 0);
    }
};

#include "contract.h"
