// ncu_compare: is what the simulator counts what a GPU counts?
//
//     ncu_compare EXAMPLES TRUTH SIMULATED OUT.json > table.md
//
// EXAMPLES is the folder of the examples; TRUTH what ncu_truth.sh has written;
// SIMULATED holds NAME.json of every example, from the simulator. Writes all
// comparisons to OUT.json and those of the lines as a Markdown table. A difference of
// more than 2 % is explained in expected/ncu_explained.tsv; exit status 1: one is not.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

#include "cost.h"
#include "hardware.h"
#include "table.h"
#include "truth.h"

namespace {

using examples::Cost;
using examples::Costs;
using examples::Expected;
using nlohmann::ordered_json;

constexpr double kTolerancePercent = 2;
const char* const kPrograms[] = {"transpose",
                                 "strided_copy",
                                 "aos_soa",
                                 "reduce",
                                 "histogram",
                                 "shared_banks",
                                 "divergence",
                                 "flash"};

/// Why a GPU differs, by kernel and by marker or metric.
class Explanations {
 public:
    explicit Explanations(const std::string& path) {
        for (const auto& row : examples::read_tabs(path))
            rows_.push_back(row);
    }
    /// The text, or nothing. A kernel's name in the file may end with *.
    std::string find(const std::string& kernel, const std::string& subject) {
        for (const auto& row : rows_) {
            const bool prefix = row[0].back() == '*';
            const std::string start = row[0].substr(0, row[0].size() - prefix);
            const bool same =
                prefix ? kernel.compare(0, start.size(), start) == 0 : kernel == start;
            if (same && (row[1] == subject || row[1] == "*")) return row[2];
        }
        return "";
    }

 private:
    std::vector<examples::Row> rows_;
};

struct Comparison {
    ordered_json lines = ordered_json::array();
    ordered_json kernels = ordered_json::array();
    int compared = 0;
    int differ = 0;
    int unexplained = 0;
    std::string markdown;
};

/// Compares two numbers, and returns what the JSON says of it. `subject` is what an
/// explanation would be about.
ordered_json judge(Comparison& all,
                   Explanations& explanations,
                   const std::string& kernel,
                   const std::string& subject,
                   double simulator,
                   double ncu) {
    const double percent = examples::difference_percent(ncu, simulator);
    ordered_json result = {{"simulator", examples::shortest(simulator)},
                           {"ncu", examples::shortest(ncu)},
                           {"difference_percent", std::round(percent * 100) / 100}};
    if (std::isnan(ncu)) {
        result["difference_percent"] = nullptr;
        return result;
    }
    ++all.compared;
    if (std::fabs(percent) <= kTolerancePercent) return result;
    ++all.differ;
    const std::string why = explanations.find(kernel, subject);
    result["explanation"] = why;
    if (!why.empty()) return result;
    ++all.unexplained;
    std::fprintf(stderr,
                 "%s, %s: simulator %g, Nsight Compute %g, and no explanation\n",
                 kernel.c_str(),
                 subject.c_str(),
                 simulator,
                 ncu);
    return result;
}

std::string number(double value) {
    if (std::isnan(value)) return "?";
    char text[32];
    std::snprintf(text, sizeof text, "%.10g", std::round(value * 100) / 100);
    return text;
}

/// The cost of a row of the table.
///
/// nvcc attributes an access now and then to another line: to a later one that uses the
/// value, or to that of a header from which it inlined a function, which is line 0
/// here. Such a line is taken if no row speaks of its accesses.
Cost cost_of(const Costs& costs,
             const Expected& row,
             const std::vector<Expected>& all) {
    const auto found = costs.find(row.key());
    if (found != costs.end()) return found->second;
    const auto claimed = [&](const examples::Key& key) {
        return std::any_of(all.begin(), all.end(), [&](const Expected& other) {
            return other.key().tie() == key.tie();
        });
    };
    Cost unmarked;
    for (const auto& [key, cost] : costs) {
        if (key.kernel != row.kernel || key.op != row.op || key.space != row.space)
            continue;
        if (key.line > row.line && !claimed(key)) return cost;
        if (key.line == 0) unmarked = cost;
    }
    return unmarked;
}

/// One row a line of the table of expectations.
void compare_lines(Comparison& all,
                   Explanations& explanations,
                   const std::string& program,
                   const std::vector<Expected>& expected,
                   const Costs& simulator,
                   const Costs& ncu) {
    for (const Expected& row : expected) {
        const Cost ours = cost_of(simulator, row, expected);
        const Cost theirs = cost_of(ncu, row, expected);
        const bool lanes = row.op == "lanes";
        ordered_json line = {{"program", program},
                             {"kernel", row.kernel},
                             {"marker", row.marker},
                             {"line", row.line},
                             {"op", row.op},
                             {"space", row.space},
                             {"expected", row.why}};
        if (!lanes)
            line["requests"] = judge(all,
                                     explanations,
                                     row.kernel,
                                     row.marker,
                                     ours.requests,
                                     theirs.requests);
        const char* const unit = lanes                   ? "active_lanes"
                                 : row.space == "shared" ? "wavefronts"
                                                         : "sectors";
        line[unit] =
            judge(all, explanations, row.kernel, row.marker, ours.cost, theirs.cost);
        const std::string note =
            line[unit].contains("explanation")
                ? line[unit]["explanation"].get<std::string>()
            : !lanes && line["requests"].contains("explanation")
                ? line["requests"]["explanation"].get<std::string>()
                : "";
        all.markdown += "| `" + row.kernel + "` | `@" + row.marker + "` | " +
                        (lanes ? "active lanes" : row.space + " " + row.op) + " | " +
                        (lanes ? "" : number(theirs.requests)) + " | " +
                        number(theirs.cost) + " | " +
                        (lanes ? "" : number(ours.requests)) + " | " +
                        number(ours.cost) + " | " + note + " |\n";
        all.lines.push_back(line);
    }
}

/// One row a kernel and counter of the hardware.
void compare_kernels(Comparison& all,
                     Explanations& explanations,
                     const std::vector<examples::Launch>& launches,
                     const std::string& program,
                     const Costs& simulator) {
    for (const examples::Launch& launch : launches) {
        if (launch.program != program) continue;
        for (const examples::Counter& counter : examples::compared_counters()) {
            double counted = 0;
            bool known = false;
            for (const std::string& metric : counter.metrics) {
                const auto found = launch.metrics.find(metric);
                if (found == launch.metrics.end()) continue;
                known = true;
                counted += found->second;
            }
            const double ours = examples::simulated(simulator, launch.kernel, counter);
            if (!known || (counted == 0 && ours == 0)) continue;
            ordered_json row = {{"program", program},
                                {"kernel", launch.kernel},
                                {"metric", counter.metrics[0]}};
            row.update(judge(
                all, explanations, launch.kernel, counter.metrics[0], ours, counted));
            all.kernels.push_back(row);
        }
    }
}

int run(const std::string& examples,
        const std::string& truth,
        const std::string& dir,
        const std::string& output) {
    Explanations explanations(examples + "/expected/ncu_explained.tsv");
    const auto launches = examples::read_launches(truth + "/ncu.csv");
    Comparison all;
    for (const std::string program : kPrograms) {
        const auto expected =
            examples::read_expected(examples + "/expected/" + program + ".tsv",
                                    examples + "/" + program + ".cu");
        const Costs simulator = examples::read_simulator(dir + "/" + program + ".json");
        const Costs ncu = examples::read_ncu_lines(
            truth + "/ncu_lines.tsv", program, examples + "/" + program + ".cu");
        compare_lines(all, explanations, program, expected, simulator, ncu);
        compare_kernels(all, explanations, launches, program, simulator);
    }
    examples::Machine machine(truth + "/machine.txt");
    const ordered_json document = {
        {"version", 1},
        {"machine", machine.description},
        {"tolerance_percent", kTolerancePercent},
        {"compared", all.compared},
        {"within_tolerance", all.compared - all.differ},
        {"explained", all.differ - all.unexplained},
        {"unexplained", all.unexplained},
        {"lines", all.lines},
        {"kernels", all.kernels},
        {"times", examples::read_times(truth + "/ncu_large.csv", machine)}};
    examples::write(document, output);
    std::printf(
        "| kernel | line | access | requests (GPU) | cost (GPU) | requests | cost | |\n"
        "| --- | --- | --- | ---: | ---: | ---: | ---: | --- |\n%s",
        all.markdown.c_str());
    std::fprintf(stderr,
                 "%d numbers compared, %d within %g %%, %d differ and are explained, "
                 "%d are not\n",
                 all.compared,
                 all.compared - all.differ,
                 kTolerancePercent,
                 all.differ - all.unexplained,
                 all.unexplained);
    return all.unexplained == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(
            stderr,
            "usage: ncu_compare EXAMPLES TRUTH SIMULATED OUT.json > table.md\n");
        return 2;
    }
    try {
        return run(argv[1], argv[2], argv[3], argv[4]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ncu_compare: %s\n", error.what());
        return 2;
    }
}
