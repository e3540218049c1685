#include "model.h"

#include <nlohmann/json.hpp>

#include <cctype>
#include <fstream>
#include <stdexcept>

namespace xray {
namespace {

using nlohmann::json;

/// What a launch takes where nobody measured it.
constexpr double kUsualLaunch = 5e-6;

/// A number, or 0 where the file says null or nothing.
double figure(const json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() || !found->is_number() ? 0.0 : found->get<double>();
}

int whole(const json& object, const char* key) {
    return static_cast<int>(figure(object, key));
}

Gpu read_gpu(const std::string& key, const json& j, double efficiency) {
    Gpu gpu;
    gpu.key = key;
    gpu.name = j.at("name").get<std::string>();
    gpu.arch = j.at("arch").get<std::string>();
    gpu.sms = figure(j, "sms");
    gpu.clock_hz = 1e6 * figure(j, "clock_mhz");
    gpu.fp32 = 1e12 * figure(j, "fp32_tflops");
    gpu.dram = 1e9 * figure(j, "dram_gbps");
    gpu.l2_bytes = 1048576.0 * figure(j, "l2_mb");
    gpu.l2_rate = gpu.clock_hz * figure(j, "l2_bytes_per_clock");
    gpu.launch = 1e-6 * figure(j, "launch_us");
    if (gpu.launch <= 0) gpu.launch = kUsualLaunch;
    gpu.atomic_interval = 1e-9 * figure(j, "same_address_atomic_ns");
    const double usual = efficiency * gpu.dram;
    gpu.read_rate = gpu.write_rate = gpu.copy_rate = gpu.mixed_rate = usual;
    const auto measured = j.find("measured");
    if (measured != j.end()) {
        gpu.measured = true;
        gpu.read_rate = 1e9 * figure(*measured, "read_gbps");
        gpu.write_rate = 1e9 * figure(*measured, "write_gbps");
        gpu.copy_rate = 1e9 * figure(*measured, "copy_gbps");
        gpu.mixed_rate = 1e9 * figure(*measured, "read2_write1_gbps");
    }
    gpu.max_warps = whole(j, "max_warps");
    gpu.max_blocks = whole(j, "max_blocks");
    gpu.registers = whole(j, "registers");
    gpu.shared_bytes = whole(j, "shared_bytes");
    gpu.shared_reserved = whole(j, "shared_reserved");
    return gpu;
}

/// "NVIDIA GeForce RTX 4090" as keys are written: "nvidiageforcertx4090".
std::string as_key(const std::string& name) {
    std::string key;
    for (const unsigned char letter : name) {
        if (std::isalnum(letter)) key += static_cast<char>(std::tolower(letter));
    }
    return key;
}

}  // namespace

bool take_ceilings(Gpu& gpu, const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    try {
        const json document = json::parse(file);
        const json& machine = document.at("machine");
        const std::string name = as_key(machine.at("gpu").get<std::string>());
        if (name.find(gpu.key) == std::string::npos || machine.at("arch") != gpu.arch ||
            figure(machine, "sms") != gpu.sms) {
            return false;
        }
        const auto take = [&](double& target, const char* ceiling, double unit) {
            const auto found = document.at("ceilings").find(ceiling);
            if (found == document.at("ceilings").end()) return;
            const double value = figure(*found, "value");
            if (value > 0) target = unit * value;
        };
        take(gpu.read_rate, "read", 1e9);
        take(gpu.write_rate, "write", 1e9);
        take(gpu.copy_rate, "copy", 1e9);
        take(gpu.mixed_rate, "2 reads + 1 write", 1e9);
        take(gpu.launch, "empty kernel", 1e-6);
        gpu.measured = true;
        return true;
    } catch (const json::exception& error) {
        throw std::runtime_error(path + " holds no ceilings (" + error.what() +
                                 "): ./learn ceilings writes it anew");
    }
}

std::vector<Gpu> read_gpus(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    try {
        const json document = json::parse(file);
        const double efficiency = document.at("dram_efficiency").at("value");
        std::vector<Gpu> gpus;
        for (const auto& [key, value] : document.at("gpus").items())
            gpus.push_back(read_gpu(key, value, efficiency));
        return gpus;
    } catch (const json::exception& error) {
        throw std::runtime_error(path + ": " + error.what());
    }
}

}  // namespace xray
