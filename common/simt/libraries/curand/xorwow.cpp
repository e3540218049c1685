// Jumping ahead in XORWOW's sequence: a product with a power of the generator's matrix.

#include "simt/curand/xorwow.h"

#include <vector>

#include "core/scheduler.h"

namespace simt::detail {
namespace {

/// A 160 x 160 matrix of bits, column by column.
struct XorshiftMatrix {
    XorshiftState column[160];

    XorshiftState operator*(const XorshiftState& x) const {
        XorshiftState result{};
        for (int word = 0; word < 5; ++word) {
            for (uint32_t rest = x.v[word]; rest != 0; rest &= rest - 1) {
                const XorshiftState& c = column[32 * word + __builtin_ctz(rest)];
                for (int k = 0; k < 5; ++k)
                    result.v[k] ^= c.v[k];
            }
        }
        return result;
    }
};

/// Matrices of 2^0, 2^1, ... 2^130 steps.
std::vector<XorshiftMatrix> make_powers() {
    std::vector<XorshiftMatrix> made(131);
    for (int bit = 0; bit < 160; ++bit) {
        XorshiftState unit{};
        unit.v[bit / 32] = 1u << (bit % 32);
        xorshift_step(unit.v);
        made[0].column[bit] = unit;
    }
    for (size_t k = 1; k < made.size(); ++k)
        for (int bit = 0; bit < 160; ++bit)
            made[k].column[bit] = made[k - 1] * made[k - 1].column[bit];
    return made;
}

/// While it lives, the running thread of a kernel is not preempted: another one of the
/// same worker would wait for ever for the object that this one is making.
class InOneGo {
 public:
    InOneGo() {
        if (!worker) return;
        was_ = worker->in_runtime;
        worker->in_runtime = true;
    }
    ~InOneGo() {
        if (worker) worker->in_runtime = was_;
    }

 private:
    bool was_ = true;
};

}  // namespace

void xorshift_jump(uint32_t (&v)[5], unsigned long long n, int log2_unit) {
    if (n == 0) return;
    const InOneGo in_one_go;
    static const auto& powers = *new auto(make_powers());
    XorshiftState state{{v[0], v[1], v[2], v[3], v[4]}};
    for (; n != 0; n &= n - 1)
        state = powers[static_cast<size_t>(log2_unit + __builtin_ctzll(n))] * state;
    for (int i = 0; i < 5; ++i)
        v[i] = state.v[i];
}

}  // namespace simt::detail
