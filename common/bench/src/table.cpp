// The table: plain characters, so that it reads the same over ssh and in a log.
#include <wb/bench/report.h>

#include <cstdarg>
#include <cstdio>
#include <ctime>

namespace wb::bench {
namespace {

constexpr std::size_t kIdeaWidth = 32;

/// printf into a string.
__attribute__((format(printf, 1, 2))) std::string format(const char* pattern, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, pattern);
    std::vsnprintf(text, sizeof text, pattern, arguments);
    va_end(arguments);
    return text;
}

std::string shortened(const std::string& text, std::size_t width) {
    return text.size() <= width ? text : text.substr(0, width - 2) + "..";
}

/// "805.3 MB" or "1.1 TFLOP".
std::string work_text(const Row& row) {
    const char* unit = is_compute(row.ceiling) ? "FLOP" : "B";
    if (row.work >= 1e12) return format("%.1f T%s", row.work * 1e-12, unit);
    if (row.work >= 1e9) return format("%.2f G%s", row.work * 1e-9, unit);
    if (row.work >= 1e6) return format("%.1f M%s", row.work * 1e-6, unit);
    return format("%.1f k%s", row.work * 1e-3, unit);
}

}  // namespace

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
    return text;
}

std::string Row::ceiling_name() const {
    return limit.empty() ? name_of(ceiling) : limit;
}

double Row::rate() const {
    const double per_us = timing.us.median > 0.0 ? work / timing.us.median : 0.0;
    return per_us * (is_compute(ceiling) ? 1e-6 : 1e-3);
}

double Row::token_rate() const {
    return timing.us.median > 0.0 ? tokens / timing.us.median * 1e6 : 0.0;
}

double Row::percent() const {
    return ceiling_value > 0.0 ? 100.0 * rate() / ceiling_value : 0.0;
}

std::string header_text(const Machine& machine,
                        const Readings& readings,
                        const std::map<Ceiling, double>& ceilings,
                        double floor_us) {
    std::string text = format("%s, %s, %d SMs, %.1f GB, L2 %.1f MB\n",
                              machine.gpu.c_str(),
                              machine.arch.c_str(),
                              machine.sms,
                              static_cast<double>(machine.memory_bytes) * 1e-9,
                              static_cast<double>(machine.l2_bytes) * 1e-6);
    text += "CUDA " + machine.cuda + " (driver's: " + machine.cuda_driver + ")";
    for (const auto& [name, value] : readings)
        text += ", " + name + " " + value;
    text += "\nmeasured ceilings:";
    const char* separator = " ";
    for (const auto& [ceiling, value] : ceilings) {
        text +=
            separator + name_of(ceiling) +
            format(
                is_compute(ceiling) ? " %.1f %s" : " %.0f %s", value, unit_of(ceiling));
        separator = " | ";
    }
    return text + format("\nan empty kernel between two events: %.1f us\n", floor_us);
}

std::string problem_text(const Row& row) {
    const char* cache = row.host_time              ? "host time"
                        : row.cache == Cache::cold ? "L2 flushed"
                                                   : "L2 hot";
    std::string text = format("\n%s  %s  (%s, %s)\n",
                              row.exercise.c_str(),
                              row.size.c_str(),
                              work_text(row).c_str(),
                              cache);
    const std::string ceiling = row.ceiling_value > 0.0
                                    ? "% of " + row.ceiling_name()
                                    : row.ceiling_name() + " not measured";
    return text + format("  %-22s %-32s %11s %7s %9s  %s\n",
                         "version",
                         "idea",
                         "median us",
                         "spread",
                         unit_of(row.ceiling),
                         ceiling.c_str());
}

std::string row_text(const Row& row) {
    const Statistics& us = row.timing.us;
    std::string text = format("  %-22s %-32s %11.2f %6.1f%% %9.1f",
                              row.rung.c_str(),
                              shortened(row.idea, kIdeaWidth).c_str(),
                              us.median,
                              100.0 * us.spread(),
                              row.rate());
    text += row.ceiling_value > 0.0 ? format("  %5.1f %%", row.percent()) : "      -";
    if (row.timing.launches_a_sample > 1) {
        text += format("  (%d launches a sample)", row.timing.launches_a_sample);
    }
    if (row.kernels > 0.0)
        text += format("  %.3f us a kernel", us.median / row.kernels);
    if (row.tokens > 0.0) text += format("  %.3g tokens/s", row.token_rate());
    if (row.scratch_bytes > 0.0) {
        text += format("  + %.3f GB", row.scratch_bytes * 1e-9);
    }
    return text + "\n";
}

}  // namespace wb::bench
