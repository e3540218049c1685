// The main() of every benchmark program.
#include <wb/bench/bench.h>
#include <wb/bench/json.h>
#include <wb/bench/machine.h>
#include <wb/bench/stored_ceilings.h>
#include <wb/exercise.h>
#include <wb/implementations.h>

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

namespace wb::bench {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr int kWrongUsage = 2;

/// What ./learn ceilings has stored, if it is of this GPU; says which are used.
void take_stored(const Options& options, const Machine& machine, Ceilings& ceilings) {
    if (options.ceilings.empty()) return;
    try {
        const StoredCeilings stored = read_ceilings(options.ceilings, machine);
        ceilings.take(stored.values);
        std::printf("ceilings: those that ./learn ceilings measured on %s\n",
                    stored.date.c_str());
    } catch (const std::runtime_error& error) {
        std::printf("ceilings: measured now, for %s\n", error.what());
    }
}

int list() {
    for (const Registered& bench : registered_benches()) {
        std::printf("%s\n", bench.exercise.c_str());
        for (const Rung& rung : rungs()) {
            if (rung.exercise != bench.exercise) continue;
            std::printf("  %-22s %s\n", rung.name.c_str(), rung.idea.c_str());
        }
    }
    return 0;
}

/// What the exit status says: no row was asked for, one was wrong, or all is well.
int status_of(const Options& options, int asked_for, int wrong) {
    if (asked_for == 0 && !(options.size + options.row).empty()) {
        std::fprintf(stderr,
                     "no row has '%s' in its size and '%s' in its name; --list has the "
                     "names\n",
                     options.size.c_str(),
                     options.row.c_str());
        return kWrongUsage;
    }
    return wrong == 0 ? 0 : 1;
}

/// In the simulator: does every rung run, and is it right? Nothing is timed.
int smoke_test(Options options) {
    std::puts(
        "no GPU: timings of the simulator mean nothing, so that each version is only "
        "checked on a tiny size");
    if (!options.json.empty()) {
        std::printf("nothing is written to %s\n", options.json.c_str());
    }
    options.sizes = Sizes::tiny;
    Timer timer(kMiB, Budget{2, 2, 0.0});
    Ceilings ceilings(timer, kMiB);
    int wrong = 0;
    int asked_for = 0;
    for (const auto& [exercise, function] : registered_benches()) {
        Bench bench(exercise, options, true, timer, ceilings);
        function(bench);
        wrong += bench.wrong();
        asked_for += bench.asked_for();
    }
    return status_of(options, asked_for, wrong);
}

/// For ./learn xray: every rung once, on one problem; writes what the contract needs.
int run_for_xray(const Options& options) {
    Timer timer(kMiB, Budget{1, 1, 0.0});
    Ceilings ceilings(timer, kMiB);
    Json sections = Json::array();
    for (const auto& [exercise, function] : registered_benches()) {
        Bench bench(exercise, options, true, timer, ceilings);
        function(bench);
        for (const Section& section : bench.sections()) {
            sections.push_back({{"name", section.name},
                                {"idea", section.idea},
                                {"size", section.size},
                                {section.compute ? "flop" : "bytes", section.work},
                                {"mistake", section.mistake}});
        }
    }
    if (sections.empty()) {
        std::fprintf(stderr, "no problem has a size with '%s'\n", options.size.c_str());
        return kWrongUsage;
    }
    write_json(options.xray, Json{{"sections", sections}});
    return 0;
}

/// Hundreds of shapes, some of half a second: few samples each.
Budget budget_of(const Options& options) {
    if (options.sizes == Sizes::grid) return {3, 500, options.seconds, 1};
    return {20, 500, options.seconds};
}

int measure(const Options& options, const Machine& machine) {
    Timer timer(flush_bytes(machine), budget_of(options));
    Ceilings ceilings(timer, ceiling_bytes());
    take_stored(options, machine, ceilings);
    for (const Ceiling kind :
         {Ceiling::read, Ceiling::write, Ceiling::copy, Ceiling::read2_write1}) {
        (void)ceilings.get(kind);
    }
    const Readings readings = read_nvidia_smi(machine.pci_bus_id);
    const double floor_us = timer.floor_us();
    std::fputs(header_text(machine, readings, ceilings.measured(), floor_us).c_str(),
               stdout);

    std::vector<Row> rows;
    int wrong = 0;
    int asked_for = 0;
    for (const auto& [exercise, function] : registered_benches()) {
        Bench bench(exercise, options, false, timer, ceilings);
        function(bench);
        wrong += bench.wrong();
        asked_for += bench.asked_for();
        rows.insert(rows.end(), bench.rows().begin(), bench.rows().end());
    }
    if (!options.json.empty()) {
        merge_into_file(
            options.json,
            document(machine, readings, ceilings.measured(), floor_us, rows));
        std::printf("\n%zu rows merged into %s\n", rows.size(), options.json.c_str());
    }
    return status_of(options, asked_for, wrong);
}

int run(const std::vector<std::string>& arguments) {
    Options options;
    try {
        options = parse_options(arguments);
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return kWrongUsage;
    }
    if (options.help) {
        std::fputs(kUsage, stdout);
        return 0;
    }
    if (options.list) return list();
    const Machine machine = describe_machine();
    if (!options.xray.empty()) {
        if (machine.simulated) return run_for_xray(options);
        std::fputs("--xray counts in the simulator: build for it (--preset sim)\n",
                   stderr);
        return kWrongUsage;
    }
    return machine.simulated ? smoke_test(options) : measure(options, machine);
}

}  // namespace
}  // namespace wb::bench

int main(int argc, char** argv) {
    try {
        return wb::bench::run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
