// wb_xray: shows what a checked run wrote.
//
//     wb_xray --json run.json [--html page.html] [--kernel NAME] [--section RUNG] ...
//
// ./learn xray calls it; see its help for what a learner types.
#include "model_error.h"
#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

namespace xray {
namespace {

const char* const kUsage =
    "wb_xray --json FILE [options]\n"
    "  --contract FILE   what a benchmark wrote with --xray FILE\n"
    "  --html FILE       write the page, too\n"
    "  --quiet 1         print nothing but errors\n"
    "  --kernel NAME     only kernels whose name contains NAME\n"
    "  --section RUNG    only this rung, as v3\n"
    "  --gpu KEY         a GPU of gpus.json, for the model and the occupancy\n"
    "  --ceilings FILE   of ./learn ceilings, used if they are of that GPU\n"
    "  --ptxas FILE      the output of nvcc -cubin -Xptxas -v\n"
    "  --measured FILE   instead: the model beside the rows of a benchmark, with\n"
    "  --rows TEXT       only rows whose size contains TEXT\n"
    "  --larger FILE     a run on a larger problem, to extrapolate along a line, and\n"
    "  --larger-contract FILE\n"
    "  --title TEXT, --root DIR, --program COMMAND, --colour 1, --width COLUMNS\n";

using Arguments = std::map<std::string, std::string>;

Arguments parse(int argc, char** argv) {
    Arguments arguments;
    for (int i = 1; i < argc; i += 2) {
        const std::string name = argv[i];
        const std::string known = kUsage;
        if (name.size() < 3 || known.find(name + " ") == std::string::npos ||
            i + 1 >= argc)
            throw std::invalid_argument("'" + name + "' is not understood\n" + kUsage);
        arguments[name] = argv[i + 1];
    }
    if (!arguments.count("--json")) throw std::invalid_argument(kUsage);
    return arguments;
}

Gpu find_gpu(const std::string& key) {
    std::string keys;
    for (const Gpu& gpu : read_gpus(WB_GPUS)) {
        if (gpu.key == key) return gpu;
        keys += (keys.empty() ? "" : ", ") + gpu.key;
    }
    throw std::invalid_argument("there is no data of a GPU '" + key + "'; there is " +
                                keys);
}

void write_page(Report& report, const std::filesystem::path& path) {
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
    std::ofstream file(path);
    file << html_report(report);
    if (!file) throw std::runtime_error("cannot write " + path.string());
}

int run(const Arguments& arguments) {
    const auto value = [&](const char* name, const char* fallback = "") {
        const auto found = arguments.find(name);
        return found == arguments.end() ? std::string(fallback) : found->second;
    };
    Report report;
    report.run = read_run(value("--json"));
    if (arguments.count("--contract")) read_contracts(value("--contract"), report.run);
    if (arguments.count("--measured")) {
        Run larger;
        if (arguments.count("--larger")) {
            larger = read_run(value("--larger"));
            read_contracts(value("--larger-contract"), larger);
        }
        std::fputs(model_error(report.run,
                               arguments.count("--larger") ? &larger : nullptr,
                               find_gpu(value("--gpu", "h100")),
                               {value("--measured"), value("--rows")})
                       .c_str(),
                   stdout);
        return 0;
    }
    select(report.run, value("--kernel"), value("--section"));
    report.title = value("--title", report.run.program.c_str());
    report.root = value("--root");
    report.program = value("--program", "./program");
    if (arguments.count("--gpu")) report.gpu = find_gpu(value("--gpu"));
    if (report.gpu && arguments.count("--ceilings"))
        (void)take_ceilings(*report.gpu, value("--ceilings"));
    report.resources_note = "install nvcc to see registers and occupancy";
    if (arguments.count("--ptxas")) {
        report.resources = read_ptxas(value("--ptxas"));
        report.resources_note = "nvcc says nothing about this kernel";
    }
    report.colour = value("--colour") == "1";
    report.width = std::atoi(value("--width", "0").c_str());
    // The page first: a reader of the text may stop early, as in `| head`.
    if (arguments.count("--html")) write_page(report, value("--html"));
    if (value("--quiet") != "1") print_report(report);
    return 0;
}

}  // namespace
}  // namespace xray

int main(int argc, char** argv) {
    try {
        return xray::run(xray::parse(argc, argv));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
