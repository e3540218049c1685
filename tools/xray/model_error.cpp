#include "model_error.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <stdexcept>

namespace xray {
namespace {

using nlohmann::ordered_json;

constexpr double kLeastBytes = 64e6;  // below, a row is mostly launch

/// A count on a problem of other size.
class Line {
 public:
    /// Through (x1, y) in proportion.
    Line(double x1, double x) : near_(x / x1), far_(0.0) {}

    /// Through (x1, y1) and (x2, y2).
    Line(double x1, double x2, double x)
        : near_((x2 - x) / (x2 - x1)), far_((x - x1) / (x2 - x1)) {}

    double at(double y1, double y2) const {
        return std::max(0.0, near_ * y1 + far_ * y2);
    }

 private:
    double near_, far_;
};

const Access* same_access(const Kernel& kernel, const Access& access) {
    for (const Access& other : kernel.accesses) {
        if (other.place.line == access.place.line && other.op == access.op &&
            other.space == access.space && other.bytes == access.bytes)
            return &other;
    }
    return nullptr;
}

/// The kernel with its counts extrapolated.
Kernel extrapolated(const Kernel& small, const Kernel& large, const Line& line) {
    Kernel result = small;
    for (Access& access : result.accesses) {
        const Access none;
        const Access* other = same_access(large, access);
        if (other == nullptr) other = &none;
        access.requests = line.at(access.requests, other->requests);
        access.lanes = line.at(access.lanes, other->lanes);
        access.sectors = line.at(access.sectors, other->sectors);
        access.ideal_sectors = line.at(access.ideal_sectors, other->ideal_sectors);
        access.wavefronts = line.at(access.wavefronts, other->wavefronts);
    }
    for (auto& [key, value] : result.totals)
        value = line.at(value, large.total(key));
    return result;
}

const Kernel& same_kernel(const Run& run, const Kernel& kernel) {
    for (const Kernel& other : run.kernels)
        if (other.name == kernel.name && other.section == kernel.section) return other;
    throw std::runtime_error("the larger run has no kernel " + kernel.name);
}

/// All kernels of a rung, one after another, on a problem of so many bytes.
Prediction predict_rung(const Run& run,
                        const Run* larger,
                        const Contract& contract,
                        double bytes,
                        const Gpu& gpu) {
    Prediction sum;
    double longest = 0;
    for (const Kernel& kernel : run.kernels) {
        if (kernel.section != contract.section) continue;
        Line line(contract.bytes, bytes);
        const Kernel* large = &kernel;
        if (larger != nullptr) {
            const Contract* other = larger->contract(contract.section);
            if (other == nullptr) continue;
            line = Line(contract.bytes, other->bytes, bytes);
            large = &same_kernel(*larger, kernel);
        }
        const Prediction one = predict(extrapolated(kernel, *large, line), gpu, 0);
        sum.seconds += one.seconds;
        sum.launch += one.launch;
        if (one.seconds > longest) {
            longest = one.seconds;
            sum.terms = one.terms;
        }
    }
    return sum;
}

}  // namespace

std::string model_error(const Run& run,
                        const Run* larger,
                        const Gpu& gpu,
                        const Measured& measured) {
    std::ifstream file(measured.path);
    const ordered_json document = ordered_json::parse(file, nullptr, false);
    if (document.is_discarded())
        throw std::runtime_error("cannot read " + measured.path);
    std::string lines;
    for (const ordered_json& row : document.at("rows")) {
        const Contract* contract = run.contract(row.at("rung"));
        const double bytes = row.value("bytes", 0.0);
        const std::string size = row.at("size");
        if (contract == nullptr || contract->bytes <= 0 || bytes < kLeastBytes ||
            size.find(measured.size) == std::string::npos)
            continue;
        if (larger != nullptr && larger->contract(contract->section) == nullptr)
            continue;
        const Prediction guess = predict_rung(run, larger, *contract, bytes, gpu);
        const double us = row.at("median_us");
        lines += ordered_json{{"exercise", row.at("exercise")},
                              {"rung", row.at("rung")},
                              {"size", size},
                              {"measured_us", us},
                              {"predicted_us", guess.seconds * 1e6},
                              {"ratio", guess.seconds * 1e6 / us},
                              {"bound", guess.bound()},
                              {"counted_on", contract->size}}
                     .dump() +
                 "\n";
    }
    return lines;
}

}  // namespace xray
