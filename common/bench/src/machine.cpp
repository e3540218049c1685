#include <cuda_runtime.h>
#include <wb/bench/machine.h>
#include <wb/check.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <memory>
#include <sstream>

namespace wb::bench {
namespace {

/// nvidia-smi's fields, and our names for them.
constexpr std::pair<const char*, const char*> kFields[] = {
    {"driver_version", "driver"},
    {"clocks.sm", "sm_clock"},
    {"clocks.max.sm", "sm_clock_max"},
    {"clocks.mem", "memory_clock"},
    {"clocks.max.mem", "memory_clock_max"},
    {"power.limit", "power_limit"},
};

/// 13000 -> "13.0".
std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// The first line that a shell command prints; "" if it fails.
std::string first_line_of(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"),
                                                     pclose);
    std::array<char, 1024> line{};
    if (!pipe || std::fgets(line.data(), line.size(), pipe.get()) == nullptr) return "";
    return line.data();
}

}  // namespace

std::size_t flush_bytes(const Machine& machine) {
    constexpr std::size_t kMiB = std::size_t{1} << 20;
    return std::max(2 * machine.l2_bytes + 16 * kMiB, 64 * kMiB);
}

Machine describe_machine() {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess || devices == 0) {
        const std::string reason =
            error == cudaSuccess ? "there is none" : cudaGetErrorString(error);
        (void)cudaGetLastError();
        throw NoGpu("no GPU can be used here (" + reason +
                    "); benchmarks need one, ./learn check does not");
    }
    cudaDeviceProp properties{};
    CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
    int runtime = 0;
    int driver = 0;
    CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    CUDA_CHECK(cudaDriverGetVersion(&driver));
    std::array<char, 32> bus{};
    CUDA_CHECK(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), 0));

    Machine machine;
#ifdef SIMT_CPU
    machine.simulated = true;
#endif
    machine.gpu = properties.name;
    machine.arch = "sm_" + std::to_string(properties.major * 10 + properties.minor);
    machine.sms = properties.multiProcessorCount;
    machine.memory_bytes = properties.totalGlobalMem;
    machine.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
    machine.cuda = version_text(runtime);
    machine.cuda_driver = version_text(driver);
    machine.pci_bus_id = bus.data();
    return machine;
}

Readings parse_nvidia_smi(const std::string& line) {
    Readings readings;
    std::istringstream cells(line);
    std::string cell;
    for (const auto& [query, name] : kFields) {
        if (!std::getline(cells, cell, ',')) return {};
        const std::string value = trimmed(cell);
        // "[N/A]", "[Not Supported]", and error texts are no numbers.
        if (value.empty() || std::isdigit(static_cast<unsigned char>(value[0])) == 0) {
            continue;
        }
        readings.emplace_back(name, value);
    }
    if (std::getline(cells, cell, ',')) return {};
    return readings;
}

Readings read_nvidia_smi(const std::string& pci_bus_id) {
    for (const char c : pci_bus_id) {  // the name goes to a shell
        if (std::isxdigit(static_cast<unsigned char>(c)) == 0 && c != ':' && c != '.') {
            return {};
        }
    }
    std::string fields;
    for (const auto& [query, name] : kFields) {
        fields += (fields.empty() ? "" : ",") + std::string(query);
    }
    return parse_nvidia_smi(
        first_line_of("nvidia-smi --format=csv,noheader --id=" + pci_bus_id +
                      " --query-gpu=" + fields + " 2>/dev/null"));
}

}  // namespace wb::bench
