#include "cost.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "table.h"

namespace examples {
namespace {

/// Where each // @marker stands.
std::map<std::string, int> find_markers(const std::vector<std::string>& source) {
    std::map<std::string, int> markers;
    for (size_t i = 0; i < source.size(); ++i) {
        const size_t at = source[i].find("// @");
        if (at != std::string::npos) markers[source[i].substr(at + 4)] = int(i) + 1;
    }
    return markers;
}

std::optional<double> number(std::string text) {
    if (text == "-") return {};
    if (text[0] == '~') text.erase(0, 1);
    return std::stod(text);
}

/// An access that a machine instruction makes.
struct Instruction {
    std::string op;
    std::string space;
    bool wide = false;  // more than 4 bytes a lane
};

/// Nothing if it accesses neither global nor shared memory.
std::optional<Instruction> parse_sass(const std::string& sass) {
    // "@!P0 LDG.E.64 R2, desc[UR4][R2.64]" is an LDG.E.64.
    size_t start = 0;
    if (sass[0] == '@') start = sass.find(' ') + 1;
    const std::string opcode = sass.substr(start, sass.find(' ', start) - start);
    static const std::map<std::string, Instruction> kinds = {
        {"LDG", {"load", "global"}},
        {"STG", {"store", "global"}},
        {"RED", {"atomic", "global"}},
        {"REDG", {"atomic", "global"}},
        {"ATOMG", {"atomic", "global"}},
        {"LDS", {"load", "shared"}},
        {"STS", {"store", "shared"}},
        {"ATOMS", {"atomic", "shared"}},
    };
    const auto found = kinds.find(opcode.substr(0, opcode.find('.')));
    if (found == kinds.end()) return {};
    Instruction instruction = found->second;
    instruction.wide = opcode.find(".64") != std::string::npos ||
                       opcode.find(".128") != std::string::npos;
    return instruction;
}

/// A table whose first row names its columns.
class Columns {
 public:
    explicit Columns(const Row& header) {
        for (size_t i = 0; i < header.size(); ++i)
            index_[header[i]] = i;
    }
    std::string text(const Row& row, const char* name) const {
        return row.at(index_.at(name));
    }
    double number(const Row& row, const char* name) const {
        return std::stod(text(row, name));
    }

 private:
    std::map<std::string, size_t> index_;
};

/// Cost of one instruction.
Cost cost_of(const Instruction& instruction, const Columns& columns, const Row& row) {
    Cost cost;
    cost.requests = columns.number(row, "inst_executed");
    if (instruction.space == "global") {
        cost.cost = columns.number(row, "memory_l2_theoretical_sectors_global");
        return cost;
    }
    cost.cost = columns.number(row, "memory_l1_wavefronts_shared");
    // What a predicate has switched off for the whole warp counts as executed, too.
    // What reaches memory takes one wavefront ideally, if it wants 4 bytes a lane.
    if (!instruction.wide) {
        cost.requests = columns.number(row, "memory_l1_wavefronts_shared_ideal");
    } else if (columns.text(row, "sass")[0] == '@') {
        cost.requests = std::nan("");
    }
    return cost;
}

}  // namespace

std::vector<Expected> read_expected(const std::string& table,
                                    const std::string& source) {
    const auto markers = find_markers(read_lines(source));
    std::vector<Expected> rows;
    for (const Row& row : read_tabs(table)) {
        if (row.size() != 7) throw std::runtime_error(table + ": a row has 7 columns");
        const auto marker = markers.find(row[1]);
        if (marker == markers.end()) {
            throw std::runtime_error(source + " has no line marked // @" + row[1]);
        }
        Expected expected;
        expected.kernel = row[0];
        expected.marker = row[1];
        expected.line = marker->second;
        expected.op = row[2];
        expected.space = row[3];
        expected.requests = number(row[4]);
        expected.cost = number(row[5]);
        expected.about = row[5][0] == '~';
        expected.why = row[6];
        rows.push_back(expected);
    }
    return rows;
}

Costs read_simulator(const std::string& path) {
    nlohmann::json report;
    std::string text;
    for (const std::string& line : read_lines(path))
        text += line + '\n';
    report = nlohmann::json::parse(text);

    Costs costs;
    for (const auto& kernel : report.at("kernels")) {
        const std::string name = launch_name(kernel.at("name"));
        for (const auto& line : kernel.at("lines")) {
            const std::string space = line.at("space");
            Cost& cost = costs[{name, line.at("line"), line.at("op"), space}];
            cost.requests += line.at("requests").get<double>();
            cost.cost +=
                line.at(space == "shared" ? "wavefronts" : "sectors").get<double>();
        }
        std::map<int, std::pair<double, double>> lanes;  // line: lanes, executions
        for (const auto& branch : kernel.at("branches")) {
            auto& [active, executions] = lanes[branch.at("line")];
            active += branch.at("lanes").get<double>();
            executions += branch.at("executions").get<double>();
        }
        for (const auto& [line, sums] : lanes)
            costs[{name, line, "lanes", "-"}] = {sums.second, sums.first / sums.second};
    }
    return costs;
}

Costs read_ncu_lines(const std::string& path,
                     const std::string& program,
                     const std::string& source) {
    const std::vector<Row> rows = read_tabs(path);
    if (rows.empty()) throw std::runtime_error(path + " is empty");
    const Columns columns(rows[0]);
    const auto markers = find_markers(read_lines(source));

    Costs costs;
    std::map<std::pair<std::string, int>, std::pair<double, double>> lanes;
    for (size_t i = 1; i < rows.size(); ++i) {
        const Row& row = rows[i];
        if (columns.text(row, "program") != program) continue;
        const std::string kernel = launch_name(columns.text(row, "kernel"));
        const auto marker = markers.find(columns.text(row, "marker"));
        const int line = marker == markers.end() ? 0 : marker->second;
        auto& [instructions, threads] = lanes[{kernel, line}];
        instructions += columns.number(row, "inst_executed");
        threads += columns.number(row, "thread_inst_executed");
        const auto instruction = parse_sass(columns.text(row, "sass"));
        if (!instruction) continue;
        const Cost one = cost_of(*instruction, columns, row);
        Cost& cost = costs[{kernel, line, instruction->op, instruction->space}];
        cost.requests += one.requests;
        cost.cost += one.cost;
    }
    for (const auto& [place, sums] : lanes)
        costs[{place.first, place.second, "lanes", "-"}] = {sums.first,
                                                            sums.second / sums.first};
    return costs;
}

std::string launch_name(std::string name) {
    if (name.rfind("void ", 0) == 0) name.erase(0, 5);
    for (size_t at; (at = name.find("(int)")) != std::string::npos;)
        name.erase(at, 5);
    return name.substr(0, name.find('('));
}

double difference_percent(double a, double b) {
    if (a == b) return 0;
    return a == 0 ? 100.0 : (b - a) / a * 100.0;
}

}  // namespace examples
