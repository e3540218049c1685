#include "hardware.h"

#include <stdexcept>

#include "table.h"

namespace examples {

std::vector<Launch> read_launches(const std::string& path) {
    std::vector<Launch> launches;
    Row header;
    for (const Row& row : read_commas(path)) {
        if (row[0] == "ID") {
            header = row;
            continue;
        }
        // The row below the header holds units, other lines are messages.
        if (row.size() != header.size() || row[0].empty()) continue;
        Launch launch;
        for (size_t i = 0; i < row.size(); ++i) {
            if (header[i] == "Process Name") {
                launch.program = row[i].substr(row[i].rfind('/') + 1);
            } else if (header[i] == "Kernel Name") {
                launch.kernel = launch_name(row[i]);
            } else {
                std::string digits;
                for (const char c : row[i]) {
                    if (c != ',') digits += c;
                }
                size_t used = 0;
                double value = 0;
                try {
                    value = std::stod(digits, &used);
                } catch (const std::logic_error&) {
                    continue;  // a word, not a number
                }
                if (used == digits.size()) launch.metrics[header[i]] = value;
            }
        }
        launches.push_back(launch);
    }
    return launches;
}

const std::vector<Counter>& compared_counters() {
    static const std::string global = "_pipe_lsu_mem_global_op_";
    static const std::string shared = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_";
    static const std::vector<Counter> counters = {
        {{"l1tex__t_requests" + global + "ld.sum"}, "load", "global", true},
        {{"l1tex__t_sectors" + global + "ld.sum"}, "load", "global", false},
        {{"l1tex__t_requests" + global + "st.sum"}, "store", "global", true},
        {{"l1tex__t_sectors" + global + "st.sum"}, "store", "global", false},
        {{"l1tex__t_requests" + global + "red.sum",
          "l1tex__t_requests" + global + "atom.sum"},
         "atomic",
         "global",
         true},
        {{"l1tex__t_sectors" + global + "red.sum",
          "l1tex__t_sectors" + global + "atom.sum"},
         "atomic",
         "global",
         false},
        {{"smsp__sass_inst_executed_op_shared_ld.sum"}, "load", "shared", true},
        {{shared + "ld.sum"}, "load", "shared", false},
        {{"smsp__sass_inst_executed_op_shared_st.sum"}, "store", "shared", true},
        {{shared + "st.sum"}, "store", "shared", false},
        {{"smsp__sass_inst_executed_op_shared_atom.sum"}, "atomic", "shared", true},
        {{shared + "atom.sum"}, "atomic", "shared", false},
    };
    return counters;
}

double simulated(const Costs& costs,
                 const std::string& kernel,
                 const Counter& counter) {
    double sum = 0;
    for (const auto& [key, cost] : costs) {
        if (key.kernel == kernel && key.op == counter.op && key.space == counter.space)
            sum += counter.requests ? cost.requests : cost.cost;
    }
    return sum;
}

}  // namespace examples
