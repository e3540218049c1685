/// wb/bench/machine.h: which GPU, driver and toolkit a number belongs to.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace wb::bench {

/// There is nothing to measure on; the message says why.
class NoGpu : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// The machine, as it goes into the table's header and into the JSON.
struct Machine {
    bool simulated = false;  ///< the CPU simulator: its times mean nothing
    std::string gpu;         ///< "NVIDIA H100 80GB HBM3"
    std::string arch;        ///< "sm_90"
    int sms = 0;             ///< multiprocessors
    std::size_t memory_bytes = 0;
    std::size_t l2_bytes = 0;
    std::string cuda;         ///< the toolkit the program was built with, "13.0"
    std::string cuda_driver;  ///< the newest CUDA that the driver knows, "13.0"
    std::string pci_bus_id;
};

/// How many bytes a Timer has to write over to flush the L2 cache: more than twice it.
std::size_t flush_bytes(const Machine& machine);

/// Asks the CUDA runtime about device 0. Throws NoGpu.
Machine describe_machine();

/// What nvidia-smi says, as (field, value with unit): driver, clocks, power. Read just
/// after work, so that the clocks are not the idle ones. Empty without nvidia-smi.
using Readings = std::vector<std::pair<std::string, std::string>>;
Readings read_nvidia_smi(const std::string& pci_bus_id);

/// One line of nvidia-smi's CSV as readings. Empty if it is not what was asked for;
/// fields that this GPU does not report are left out.
Readings parse_nvidia_smi(const std::string& line);

}  // namespace wb::bench
