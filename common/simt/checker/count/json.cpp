#include "json.h"

#include <cstdio>
#include <iterator>

namespace simt::check {

void Json::separate() {
    if (!first_) text_ += ',';
    first_ = false;
}

Json& Json::open(char bracket) {
    separate();
    text_ += bracket;
    first_ = true;
    return *this;
}

Json& Json::close(char bracket) {
    text_ += bracket;
    first_ = false;
    return *this;
}

Json& Json::key(std::string_view name) {
    value(name);
    text_ += ':';
    first_ = true;
    return *this;
}

Json& Json::value(std::string_view text) {
    separate();
    text_ += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            text_ += '\\';
            text_ += c;
        } else if (c == '\n') {
            text_ += "\\n";
        } else if (byte < 0x20 || byte == 0x7f) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
            text_ += escaped;
        } else {
            text_ += c;
        }
    }
    text_ += '"';
    return *this;
}

Json& Json::value(uint64_t number) {
    separate();
    text_ += std::to_string(number);
    return *this;
}

Json& Json::value(int number) {
    separate();
    text_ += std::to_string(number);
    return *this;
}

Json& Json::null() {
    separate();
    text_ += "null";
    return *this;
}

Json& Json::triple(std::string_view name, unsigned x, unsigned y, unsigned z) {
    return key(name).open('[').value(x).value(y).value(z).close(']');
}

namespace {

void append(Json& json, const LineSummary& line) {
    const Cost& cost = line.cost;
    json.open('{')
        .member("file", line.file)
        .member("line", line.line)
        .member("op", name_of(line.what))
        .member("space", name_of(line.space))
        .member("bytes", line.bytes)
        .member("requests", cost.requests)
        .member("lanes", cost.lanes)
        .member("sectors", cost.sectors)
        .member("ideal_sectors", cost.ideal_sectors)
        .member("wavefronts", cost.wavefronts)
        .member("ideal_wavefronts", cost.ideal_wavefronts)
        .member("max_ways", cost.max_ways)
        .member("max_same_address", cost.max_same_address)
        .close('}');
}

void append_global(Json& json, const std::string& name, const Cost& cost) {
    json.member(name + "_requests", cost.requests)
        .member(name + "_sectors", cost.sectors)
        .member(name + "_ideal_sectors", cost.ideal_sectors);
}

void append_shared(Json& json, const std::string& name, const Cost& cost) {
    json.member(name + "_requests", cost.requests)
        .member(name + "_wavefronts", cost.wavefronts)
        .member(name + "_ideal_wavefronts", cost.ideal_wavefronts);
}

/// In the order of detail::TensorType.
constexpr const char* kTensorTypes[] = {"f16", "tf32", "f8", "i8", "f64"};

void append(Json& json, const Kernel& kernel, const Totals& totals) {
    json.open('{');
    append_global(json, "global_load", totals.global_load);
    append_global(json, "global_store", totals.global_store);
    append_shared(json, "shared_load", totals.shared_load);
    append_shared(json, "shared_store", totals.shared_store);
    append_global(json, "atomic", totals.global_atomic);
    append_shared(json, "shared_atomic", totals.shared_atomic);
    append_global(json, "async", totals.async);
    append_shared(json, "async_shared", totals.async_shared);
    json.member("barriers", totals.barriers)
        .member("warps", kernel.warps)
        .member("bytes_requested", totals.bytes_requested)
        .member("bytes_moved", totals.bytes_moved)
        .member("bytes_touched", kernel.bytes_touched)
        .member("bytes_touched_written", kernel.bytes_touched_written);
    for (size_t i = 0; i < std::size(kTensorTypes); ++i)
        json.member(std::string("tensor_") + kTensorTypes[i], kernel.tensor_flop[i]);
    json.key("flop").null().close('}');
}

}  // namespace

void append(Json& json, const KernelSummary& summary) {
    const Kernel& k = *summary.kernel;
    json.open('{')
        .member("name", k.name)
        .member("section", k.section)
        .member("launches", k.launches)
        .triple("grid", k.grid.x, k.grid.y, k.grid.z)
        .triple("block", k.block.x, k.block.y, k.block.z)
        .member("dynamic_shared", uint64_t{k.dynamic_shared})
        .member("static_shared", uint64_t{k.static_shared})
        .member("file", summary.file)
        .member("launch_file", summary.launch_file)
        .member("launch_line", k.launch_line);
    json.key("lines").open('[');
    for (const LineSummary& line : summary.lines)
        append(json, line);
    json.close(']').key("branches").open('[');
    for (const BranchSummary& branch : summary.branches)
        json.open('{')
            .member("file", branch.file)
            .member("line", branch.line)
            .member("blocks", branch.blocks)
            .member("executions", branch.executions)
            .member("lanes", branch.lanes)
            .member("part_executions", branch.part_executions)
            .member("part_lanes", branch.part_lanes)
            .close('}');
    json.close(']').key("barriers").open('[');
    for (const BarrierSummary& barrier : summary.barriers)
        json.open('{')
            .member("file", barrier.file)
            .member("line", barrier.line)
            .member("count", barrier.count)
            .member("op", barrier.op)
            .close('}');
    json.close(']').key("totals");
    append(json, k, summary.totals);
    json.close('}');
}

}  // namespace simt::check
