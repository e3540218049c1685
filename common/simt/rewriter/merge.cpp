// Two preprocessor outputs of one file become one.
//
//     __host__ __device__ int f() { D }    __host__ __device__ int f() {
//     __host__ __device__ int f() { H } =>     if (on_device_side()) { D } else { H } }
#include "merge.h"

#include <map>
#include <utility>

#include "structure.h"

namespace rewriter {
namespace {

/// Names of the namespaces and classes around a function, with its head.
std::string signature(const Source& source,
                      const Structure& structure,
                      const Function& f) {
    std::string result;
    for (int s = f.scope; s > 0; s = structure.scopes()[s].parent) {
        const Scope& scope = structure.scopes()[s];
        result += source.squeeze(scope.header, scope.open) + '{';
    }
    for (size_t i = f.header; i < f.body_open; ++i) {
        result += std::string(source.text(i)) + ' ';
    }
    return result;
}

bool is_defined_by_user(const Source& source, const Function& f) {
    return f.body_open != kNone && !source.in_system_header(f.name_token);
}

/// A function's body without its braces.
std::string body(const Source& source, const Function& f) {
    return source.squeeze(f.body_open + 1, f.body_close);
}

}  // namespace

std::string merge_sides(std::string device_text, std::string host_text) {
    Source device(std::move(device_text));
    const Source host(std::move(host_text));
    const Structure device_structure(device);
    const Structure host_structure(host);

    std::map<std::string, const Function*> device_functions;
    for (const Function& f : device_structure.functions()) {
        if (is_defined_by_user(device, f)) {
            device_functions[signature(device, device_structure, f)] = &f;
        }
    }
    std::string missing;  // functions of the host that the next one found follows
    const Function* last_found = nullptr;
    for (const Function& f : host_structure.functions()) {
        if (!is_defined_by_user(host, f)) continue;
        const auto found = device_functions.find(signature(host, host_structure, f));
        if (found == device_functions.end()) {
            const bool top_level = f.scope == 0;
            if (top_level && !f.is_device && !f.is_global) {
                missing += host.squeeze(f.header, f.body_close + 1) + ' ';
            }
            continue;
        }
        const Function& other = *found->second;
        if (!missing.empty() && f.scope == 0) {
            device.insert_before(other.header, missing);
            missing.clear();
        }
        last_found = &other;
        const bool device_only = (f.is_device && !f.is_host) || f.is_global;
        const std::string host_body = body(host, f);
        if (device_only || host_body == body(device, other)) continue;
        if (!f.is_device && !f.is_constexpr) {
            device.blank(other.body_open + 1, other.body_close);
            device.insert_after(other.body_open, ' ' + host_body + ' ');
        } else {
            const std::string_view at_run_time =
                f.is_constexpr ? "!__builtin_is_constant_evaluated() && " : "";
            device.insert_after(other.body_open,
                                " if (" + std::string(at_run_time) +
                                    "::simt::detail::on_device_side()) {");
            device.insert_before(other.body_close, "} else { " + host_body + " } ");
        }
    }
    if (!missing.empty() && last_found)
        device.insert_after(last_found->body_close, missing);
    return device.result();
}

}  // namespace rewriter
