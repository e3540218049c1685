// Mutant: the classifier knows one machine only: its ridge is a constant
// Rejected by: the same kernel has another limit on another machine
#define predict right_predict
#include "solution.h"
#undef predict

Prediction predict(const Cost& cost, const Roofs& roofs) {
    for (const double roof :
         {roofs.flop_per_s, roofs.bytes_per_s, roofs.requests_per_s, roofs.launch_s}) {
        wb::Arguments("predict")
            .finite("roofs", roof)
            .require(roof > 0.0, "roofs", static_cast<int64_t>(roof), "> 0");
    }
    const double memory = cost.dram_bytes / roofs.bytes_per_s;
    const double arithmetic = cost.flop / roofs.flop_per_s;
    const double load_store = cost.requests / roofs.requests_per_s;
    const double busy = std::max({memory, arithmetic, load_store});
    Limit limit = Limit::load_store;
    if (busy != load_store) {
        const bool many = cost.flop > 17.0 * cost.dram_bytes;
        limit = many ? Limit::arithmetic : Limit::memory;
    }
    if (busy < roofs.launch_s) limit = Limit::launch;
    return {limit, roofs.launch_s + busy};
}
