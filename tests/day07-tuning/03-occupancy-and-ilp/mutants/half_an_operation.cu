// Mutant: 1.33 independent operations are rounded to the nearest number
// Rejected by: how much independent work a thread needs
#define independent_needed right_independent_needed
#include "solution.h"
#undef independent_needed

int independent_needed(const Pipe& pipe, int64_t threads, int size) {
    const double under_way = pipe.peak * pipe.latency;
    const double share = under_way / (static_cast<double>(threads) * size);
    return std::max(1, static_cast<int>(std::lround(share)));
}
