#include "output.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "checker/access.h"
#include "checker/findings.h"
#include "core/device_model.h"
#include "core/options.h"
#include "json.h"
#include "table.h"

namespace simt::check {
namespace {

void append(Json& json, const char* prefix, const Who& who) {
    const std::string start(prefix);
    json.triple(start + "block", who.block.x, who.block.y, who.block.z);
    json.triple(start + "thread", who.thread.x, who.thread.y, who.thread.z);
}

void append(Json& json, const Finding& f) {
    json.open('{')
        .member("kind", kind_name(f.kind))
        .member("detail", detail_name(f.detail))
        .member("what", f.what)
        .member("kernel", f.kernel)
        .member("section", f.section)
        .member("space", f.space)
        .member("variable", f.variable)
        .member("file", f.place.file)
        .member("line", f.place.line);
    append(json, "", f.who);
    if (f.has_other) {
        json.member("other_file", f.other_place.file)
            .member("other_line", f.other_place.line);
        append(json, "other_", f.other);
    }
    json.member("text", f.text)
        .member("fix", f.fix)
        .member("lesson", f.lesson)
        .member("count", f.count)
        .close('}');
}

/// The model of the device: the GPU is not there, its limits are.
std::string device_name() {
    const int arch = detail::device_model().arch;
    return "model of an sm_" + std::to_string(arch) + (arch == 80 ? " (A100)" : "");
}

void write_file(const char* path, const std::string& text) {
    FILE* file = std::fopen(path, "w");
    const bool written =
        file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if ((file && std::fclose(file) != 0) || !written)
        std::fprintf(stderr,
                     "==SIMT== cannot write SIMT_CHECK_JSON=%s: %s\n",
                     path,
                     std::strerror(errno));
}

}  // namespace

std::string json_output() {
    Json json;
    json.open('{')
        .member("version", 1)
        .member("program", program_invocation_short_name)
        .member("seed", uint64_t{detail::options().seed})
        .member("device", device_name());
    json.key("kernels").open('[');
    for (const Kernel& kernel : kernels())
        append(json, summary_of(kernel));
    json.close(']').key("findings").open('[');
    for (const Finding& finding : findings())
        append(json, finding);
    json.close(']').close('}');
    return json.text() + '\n';
}

void write_output() {
    if (const char* path = std::getenv("SIMT_CHECK_JSON"); path && *path)
        return write_file(path, json_output());
    const char* table = std::getenv("SIMT_CHECK_TABLE");
    if (!counting || (table && *table == '0')) return;
    for (const Kernel& kernel : kernels())
        std::fputs(table_of(summary_of(kernel)).c_str(), stderr);
}

}  // namespace simt::check
