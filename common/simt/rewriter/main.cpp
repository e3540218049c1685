// simt_rewrite: turns preprocessed CUDA C++ into plain C++.
//
//     g++ -E -x c++ kernels.cu -o kernels.ii && simt_rewrite kernels.ii > rewritten.ii
//
// After the preprocessor there are no comments, macros are expanded, headers are
// included, and `# 12 "kernels.cu"` markers lead compilers and debuggers to the user's
// file. Text is inserted or blanked only: no line ever moves.
#include <getopt.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include "calls.h"
#include "kernels.h"
#include "lockstep.h"
#include "merge.h"
#include "messages.h"
#include "names.h"
#include "ptx.h"
#include "requirements.h"
#include "rules.h"
#include "shared.h"
#include "words.h"

namespace {

constexpr const char* kUsage =
    "usage: simt_rewrite [--rdc] [--count] [--arch N] [--host HOST_FILE] FILE\n"
    "Rewrites preprocessed CUDA C++ to plain C++ on standard output.\n"
    "  --rdc   relocatable device code: __device__ variables are shared between files\n"
    "  --count __constant__ variables can be told from others\n"
    "  --arch N  the value of __CUDA_ARCH__\n"
    "  --host  the same source preprocessed without __CUDA_ARCH__\n"
    "  --expt-relaxed-constexpr, --extended-lambda  as for nvcc\n"
    "or: simt_rewrite --messages DATA FOLDER... <MESSAGES\n"
    "Retells what the compiler says; the simulator's headers are in the FOLDERs.\n";

struct Options {
    bool relocatable = false, count = false;
    bool relaxed = false;   // --expt-relaxed-constexpr
    bool extended = false;  // --extended-lambda
    int arch = 900;         // --arch
};

/// The text of a file; ends the program if it cannot be read.
std::string read_file(const char* path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        std::fprintf(stderr, "simt_rewrite: cannot read %s\n", path);
        std::exit(1);
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

/// All passes over one translation unit; false after an error.
bool rewrite(rewriter::Source& source, const Options& options) {
    using namespace rewriter;
    const Structure structure(source);
    if (rename_new_std_names(source, structure)) {
        Source renamed(source.result());
        source = std::move(renamed);
        return rewrite(source, options);
    }
    const KernelTable kernels(source, structure);
    const DeviceCode code(source, structure);
    check_kernels(source, structure, code);
    check_memory_words(source, structure, code);
    check_statements(source, structure, code);
    check_lambdas(source, code, options.extended);
    check_calls(source, structure, code, options.relaxed);
    check_library_calls(source, structure, code, options.relaxed);
    check_members(source, structure, code, options.relaxed);
    check_variables(source, structure, code);
    check_textures(source);
    check_attributes(source);
    rewrite_lockstep(source, structure);
    if (options.count) mark_constant_variables(source, structure);
    rewrite_device_variables(source, structure, options.relocatable);
    rewrite_shared_variables(source, structure);
    rewrite_launches(source, structure, code, kernels, options.relocatable);
    rewrite_kernel_references(source, structure, kernels);
    rewrite_requirements(source, structure, kernels, options.arch);
    rewrite_ptx(source, structure);
    rewrite_words(source);
    return !source.failed();
}

/// --messages DATA FOLDER...
int retell_messages(const char* data, char** folders, int num_folders) {
    rewriter::Knowledge knowledge = rewriter::read_knowledge(data);
    for (int i = 0; i < num_folders; ++i)
        knowledge.own_folders.push_back(std::string(folders[i]) + '/');
    const std::string messages((std::istreambuf_iterator<char>(std::cin)), {});
    std::cout << rewriter::retell(messages, knowledge);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    static const option kOptions[] = {
        {"rdc", no_argument, nullptr, 'r'},
        {"count", no_argument, nullptr, 'c'},
        {"expt-relaxed-constexpr", no_argument, nullptr, 'x'},
        {"extended-lambda", no_argument, nullptr, 'l'},
        {"arch", required_argument, nullptr, 'a'},
        {"host", required_argument, nullptr, 'h'},
        {"messages", required_argument, nullptr, 'm'},
        {}};
    Options options;
    const char* host_path = nullptr;
    const char* data = nullptr;  // --messages
    bool is_wrong = false;
    for (int each; (each = getopt_long(argc, argv, "", kOptions, nullptr)) >= 0;) {
        switch (each) {
            case 'r':
                options.relocatable = true;
                break;
            case 'c':
                options.count = true;
                break;
            case 'x':
                options.relaxed = true;
                break;
            case 'l':
                options.extended = true;
                break;
            case 'a':
                options.arch = std::atoi(optarg);
                break;
            case 'h':
                host_path = optarg;
                break;
            case 'm':
                data = optarg;
                break;
            default:
                is_wrong = true;
        }
    }
    if (data != nullptr && !is_wrong && optind < argc)
        return retell_messages(data, argv + optind, argc - optind);
    if (is_wrong || data != nullptr || optind + 1 != argc) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    const char* path = argv[optind];
    std::string text = read_file(path);
    if (host_path) text = rewriter::merge_sides(std::move(text), read_file(host_path));
    rewriter::Source source(std::move(text));
    if (!rewrite(source, options)) return 1;
    const std::string result = source.result();
    const bool written =
        std::fwrite(result.data(), 1, result.size(), stdout) == result.size();
    if (!written || std::fflush(stdout) != 0) {
        std::perror("simt_rewrite: cannot write the result");
        return 1;
    }
    return 0;
}
