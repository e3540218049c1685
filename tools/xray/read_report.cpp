#include "report.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <stdexcept>

namespace xray {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;

json parse_file(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    json document = json::parse(file, nullptr, /*allow_exceptions=*/false);
    if (document.is_discarded()) {
        throw std::runtime_error(path + " is not JSON: was the program cut off?");
    }
    return document;
}

/// A member of an object; the fallback if it is absent or null.
template <class T>
T get(const json& object, const char* key, T fallback) {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return fallback;
    return found->get<T>();
}

std::string text(const json& object, const char* key) {
    return get<std::string>(object, key, "");
}

double number(const json& object, const char* key) {
    return get<double>(object, key, 0.0);
}

const json& list(const json& object, const char* key) {
    static const json empty = json::array();
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? empty : *found;
}

Place place(const json& object, const char* file = "file", const char* line = "line") {
    return {text(object, file), get<int>(object, line, 0)};
}

std::optional<Dim3> position(const json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return {};
    return found->get<Dim3>();
}

Access read_access(const json& j) {
    Access access;
    access.place = place(j);
    access.op = text(j, "op");
    access.space = text(j, "space");
    access.bytes = get<int>(j, "bytes", 0);
    access.requests = number(j, "requests");
    access.lanes = number(j, "lanes");
    access.sectors = number(j, "sectors");
    access.ideal_sectors = number(j, "ideal_sectors");
    access.wavefronts = number(j, "wavefronts");
    access.ideal_wavefronts = number(j, "ideal_wavefronts");
    access.max_ways = number(j, "max_ways");
    access.max_same_address = number(j, "max_same_address");
    access.merged = number(j, "merged");
    return access;
}

Kernel read_kernel(const json& j) {
    Kernel kernel;
    kernel.name = text(j, "name");
    kernel.section = text(j, "section");
    kernel.place = place(j);
    kernel.launched_at = place(j, "launch_file", "launch_line");
    kernel.launches = get<double>(j, "launches", 1.0);
    kernel.grid = position(j, "grid").value_or(Dim3{1, 1, 1});
    kernel.block = position(j, "block").value_or(Dim3{1, 1, 1});
    kernel.dynamic_shared = number(j, "dynamic_shared");
    kernel.static_shared = number(j, "static_shared");
    for (const json& line : list(j, "lines"))
        kernel.accesses.push_back(read_access(line));
    for (const json& b : list(j, "branches")) {
        kernel.branches.push_back(
            {place(b), number(b, "executions"), number(b, "lanes")});
    }
    for (const json& b : list(j, "barriers"))
        kernel.barriers.push_back({place(b), number(b, "count"), text(b, "op")});
    const auto totals = j.find("totals");
    if (totals != j.end() && totals->is_object()) {
        for (const auto& [key, value] : totals->items())
            if (value.is_number()) kernel.totals[key] = value.get<double>();
    }
    return kernel;
}

Finding read_finding(const json& j) {
    Finding finding;
    finding.kind = text(j, "kind");
    finding.what = text(j, "what");
    finding.kernel = text(j, "kernel");
    finding.section = text(j, "section");
    finding.space = text(j, "space");
    finding.variable = text(j, "variable");
    finding.place = place(j);
    finding.other = place(j, "other_file", "other_line");
    finding.block = position(j, "block").value_or(Dim3{0, 0, 0});
    finding.thread = position(j, "thread").value_or(Dim3{0, 0, 0});
    finding.other_block = position(j, "other_block");
    finding.other_thread = position(j, "other_thread");
    finding.text = text(j, "text");
    finding.fix = text(j, "fix");
    finding.lesson = text(j, "lesson");
    finding.count = get<double>(j, "count", 1.0);
    return finding;
}

Run convert(const json& document) {
    Run run;
    run.program = text(document, "program");
    run.seed = get<long>(document, "seed", 0);
    run.device = text(document, "device");
    for (const json& kernel : list(document, "kernels"))
        run.kernels.push_back(read_kernel(kernel));
    for (const json& finding : list(document, "findings"))
        run.findings.push_back(read_finding(finding));
    return run;
}

}  // namespace

double Kernel::total(const std::string& key) const {
    const auto found = totals.find(key);
    return found == totals.end() ? 0.0 : found->second;
}

double Kernel::blocks() const {
    return static_cast<double>(grid[0]) * static_cast<double>(grid[1]) *
           static_cast<double>(grid[2]);
}

double Kernel::threads_per_block() const {
    return static_cast<double>(block[0] * block[1] * block[2]);
}

const Contract* Run::contract(const std::string& section) const {
    for (const Contract& contract : contracts)
        if (contract.section == section) return &contract;
    return nullptr;
}

Run read_run(const std::string& path) {
    const json document = parse_file(path);
    const int version = get<int>(document, "version", 0);
    if (version != kVersion) {
        throw std::runtime_error(path + " has version " + std::to_string(version) +
                                 " of the format, this program reads version " +
                                 std::to_string(kVersion));
    }
    try {
        return convert(document);
    } catch (const json::exception& error) {
        throw std::runtime_error(path + ": " + error.what());
    }
}

void read_contracts(const std::string& path, Run& run) {
    const json document = parse_file(path);
    try {
        for (const json& j : list(document, "sections")) {
            run.contracts.push_back({text(j, "name"),
                                     text(j, "idea"),
                                     text(j, "size"),
                                     number(j, "bytes"),
                                     number(j, "flop"),
                                     text(j, "mistake")});
        }
    } catch (const json::exception& error) {
        throw std::runtime_error(path + ": " + error.what());
    }
}

}  // namespace xray
