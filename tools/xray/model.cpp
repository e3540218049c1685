#include "model.h"

#include "words.h"

#include <algorithm>

namespace xray {
namespace {

constexpr double kL1SectorsPerClock = 4.0;

/// Bytes read and written, in the way of the two cases of the DRAM term.
struct Traffic {
    double read;
    double written;
};

double sectors_of(const Kernel& kernel, bool stores) {
    double sum = 0;
    for (const Access& access : kernel.accesses) {
        if (access.space == "global" && (access.op == "store") == stores)
            sum += access.sectors;
    }
    return sum;
}

Traffic dram_traffic(const Kernel& kernel, const Gpu& gpu) {
    const Traffic touched{kernel.total("bytes_touched"),
                          kernel.total("bytes_touched_written")};
    const bool known = touched.read + touched.written > 0;
    const bool fits = touched.read + touched.written <= gpu.l2_bytes;
    if (known && fits) return touched;
    return {kSectorBytes * sectors_of(kernel, false),
            kSectorBytes * sectors_of(kernel, true)};
}

/// The rate that fits the mixture of reads and writes.
double dram_rate(const Traffic& traffic, const Gpu& gpu) {
    const double total = traffic.read + traffic.written;
    const double written = total > 0 ? traffic.written / total : 0;
    if (written < 0.15) return gpu.read_rate;
    if (written < 0.42) return gpu.mixed_rate;
    return written < 0.85 ? gpu.copy_rate : gpu.write_rate;
}

/// How often the most wanted sector is updated, if all that is written is written by
/// atomics, and evenly.
double updates_of_one_sector(const Kernel& kernel) {
    double updates = 0;
    double sectors = 0;
    for (const Access& access : kernel.accesses) {
        if (access.op == "atomic" && access.space == "global") {
            updates += access.lanes;
            sectors += access.sectors;
        }
    }
    const double distinct = kernel.total("bytes_touched_written") / kSectorBytes;
    if (distinct <= 0 || sectors <= 0) return 0;
    return updates / distinct;
}

double shared_wavefronts(const Kernel& kernel) {
    double sum = 0;
    for (const Access& access : kernel.accesses)
        if (access.space == "shared") sum += access.wavefronts;
    return sum;
}

}  // namespace

double bytes_moved(const Kernel& kernel) {
    return kSectorBytes * (sectors_of(kernel, false) + sectors_of(kernel, true));
}

std::string Prediction::bound() const {
    if (terms.empty() || launch > terms.front().seconds) return "launch";
    return terms.front().name;
}

Prediction predict(const Kernel& kernel, const Gpu& gpu, double flop) {
    Prediction result;
    const auto add = [&](const char* name, double amount, double rate, auto reason) {
        if (amount <= 0 || rate <= 0) return;
        result.terms.push_back({name, reason(), amount / rate});
    };
    const auto rate_text = [](double bytes_per_second) {
        return count_text(bytes_per_second * 1e-9) + " GB/s";
    };
    const double clocks = gpu.sms * gpu.clock_hz;

    const Traffic traffic = dram_traffic(kernel, gpu);
    const double dram = traffic.read + traffic.written;
    const double rate = dram_rate(traffic, gpu);
    add("DRAM", dram, rate, [&] {
        return bytes_text(dram) + " at " + rate_text(rate) +
               (gpu.measured ? " (measured)" : " (data sheet x 0.92)");
    });
    const double moved = bytes_moved(kernel);
    add("L2", moved, gpu.l2_rate, [&] {
        return bytes_text(moved) + " at " + rate_text(gpu.l2_rate);
    });
    add("L1", moved / kSectorBytes, kL1SectorsPerClock * clocks, [&] {
        return count_text(moved / kSectorBytes) +
               " sectors, 4 a clock and multiprocessor";
    });
    const double wavefronts = shared_wavefronts(kernel);
    add("shared memory", wavefronts, clocks, [&] {
        return count_text(wavefronts) + " passes, 1 a clock and multiprocessor";
    });
    add("fp32", flop, gpu.fp32, [&] {
        return count_text(flop) + " operations at " + ratio_text(gpu.fp32 * 1e-12) +
               " TFLOP/s";
    });
    const double updates = updates_of_one_sector(kernel);
    if (gpu.atomic_interval <= 0 && updates > 1000) {
        result.missing = count_text(updates) +
                         " atomic updates of one sector are left out: how long they "
                         "queue was not measured on this GPU";
    }
    if (gpu.atomic_interval > 0) {
        add("atomics", updates, 1.0 / gpu.atomic_interval, [&] {
            return count_text(updates) + " updates of one sector, one after another";
        });
    }
    std::sort(result.terms.begin(),
              result.terms.end(),
              [](const Term& a, const Term& b) { return a.seconds > b.seconds; });
    result.launch = gpu.launch * std::max(1.0, kernel.launches);
    result.seconds =
        result.launch + (result.terms.empty() ? 0 : result.terms[0].seconds);
    return result;
}

Roofline roofline(const Run& run, const std::string& section, const Gpu& gpu) {
    Roofline place;
    const Contract* contract = run.contract(section);
    if (contract == nullptr || contract->flop <= 0) return place;
    double seconds = 0;
    for (const Kernel& kernel : run.kernels) {
        if (kernel.section != section) continue;
        const Traffic traffic = dram_traffic(kernel, gpu);
        place.bytes += traffic.read + traffic.written;
        seconds += predict(kernel, gpu, run.flop(kernel)).seconds;
    }
    if (place.bytes <= 0 || seconds <= 0) return place;
    place.flop = contract->flop;
    place.intensity = place.flop / place.bytes;
    place.ridge = gpu.fp32 / gpu.copy_rate;
    place.roof = std::min(gpu.fp32, place.intensity * gpu.copy_rate);
    place.predicted = place.flop / seconds;
    return place;
}

std::string roofline_text(const Roofline& place, const Gpu& gpu) {
    if (place.flop <= 0) return "";
    return ratio_text(place.intensity) + " operations for each byte of DRAM; on the " +
           gpu.name + " memory is the limit below " + ratio_text(place.ridge) +
           ", arithmetic (fp32, no tensor cores) above. The roof here is " +
           ratio_text(place.roof * 1e-12) + " TFLOP/s, the model expects " +
           ratio_text(place.predicted * 1e-12) + ".";
}

}  // namespace xray
