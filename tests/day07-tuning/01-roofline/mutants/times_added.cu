// Mutant: the three units are said to work one after the other
// Rejected by: the slowest of three is the limit, and its time is the kernel's
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
    if (busy == arithmetic) limit = Limit::arithmetic;
    if (busy == memory) limit = Limit::memory;
    if (busy < roofs.launch_s) limit = Limit::launch;
    return {limit, roofs.launch_s + memory + arithmetic + load_store};
}
