#include "truth.h"

#include <cmath>
#include <fstream>
#include <stdexcept>

#include "hardware.h"
#include "table.h"

namespace examples {

using nlohmann::ordered_json;

Machine::Machine(const std::string& path) {
    const auto lines = read_lines(path);
    if (lines.size() < 3) throw std::runtime_error(path + " is cut off");
    const size_t comma = lines[0].find(", ");
    description["gpu"] = lines[0].substr(0, comma);
    description["driver"] = lines[0].substr(comma + 2);
    description["nsight_compute"] = lines[1];
    description["nvcc"] = lines[2];
    for (size_t i = 3; i < lines.size(); ++i) {
        const size_t name = lines[i].find(' ') + 1, end = lines[i].find(' ', name);
        size[lines[i].substr(name, end - name)] = std::stod(lines[i].substr(end));
    }
}

ordered_json shortest(double value) {
    if (std::isnan(value)) return nullptr;
    if (value == std::round(value)) return int64_t(value);
    return std::round(value * 1e4) / 1e4;
}

ordered_json read_times(const std::string& path, const Machine& machine) {
    ordered_json times = ordered_json::array();
    for (const Launch& launch : read_launches(path)) {
        const auto metric = [&](const char* name) {
            const auto found = launch.metrics.find(name);
            return found == launch.metrics.end() ? 0.0 : found->second;
        };
        times.push_back(
            {{"program", launch.program},
             {"size", shortest(machine.size.at(launch.program))},
             {"kernel", launch.kernel},
             {"time_ns", shortest(metric("gpu__time_duration.sum"))},
             {"dram_bytes_read", shortest(metric("dram__bytes_read.sum"))},
             {"dram_bytes_written", shortest(metric("dram__bytes_write.sum"))}});
    }
    return times;
}

void write(const ordered_json& document, const std::string& path) {
    std::ofstream file(path);
    const char* separator = "{";
    for (const auto& [key, value] : document.items()) {
        file << separator << "\n\"" << key << "\": ";
        separator = ",";
        if (!value.is_array()) {
            file << value.dump();
            continue;
        }
        const char* comma = "[\n";
        for (const auto& element : value) {
            file << comma << element.dump();
            comma = ",\n";
        }
        file << "\n]";
    }
    file << "\n}\n";
    if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace examples
