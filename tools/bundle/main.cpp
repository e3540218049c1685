// wb_bundle: many implementations of one chapter in one translation unit.
//
//     wb_bundle --solution SOLUTION.cu --chapter DIR [-I DIR]… [--root DIR]
//               -o OUT.cu [--dependencies OUT.d] WRONG…
//
// Each known-wrong kernel is an edit of a right one (NAME.diff, see edit.h), or a file
// that implements the chapter's contract (NAME.cu). To compile them one by one is to
// read the same headers once for each; here they are read once:
//
//     #include …                      what any of them includes, once
//     namespace wrong_NAME { … }      the text of NAME, for each
//     void vector_add(…) {            the contract, which calls the implementation that
//         …                           the environment variable WB_WRONG_KERNEL names
//
// Included files that name a function of the contract belong to each implementation:
// their text stands in its namespace. So do .cu files, such as the solution's, and what
// is included below code, which it may use, and in turn what that includes of the
// solution's folder.
// Compilers and reports see the lines of the original files (#line).
#include <getopt.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "bundle.h"

namespace {

using namespace bundle;

struct Options {
    fs::path solution, chapter, root, output, dependencies;
    std::vector<fs::path> include_dirs, sources;
};

/// getopt_long() itself says what it does not understand.
Options parse(int argc, char** argv) {
    static const option kOptions[] = {{"solution", required_argument, nullptr, 's'},
                                      {"chapter", required_argument, nullptr, 'c'},
                                      {"root", required_argument, nullptr, 'r'},
                                      {"dependencies", required_argument, nullptr, 'd'},
                                      {}};
    Options options;
    bool is_wrong = false;
    for (int each; (each = getopt_long(argc, argv, "I:o:", kOptions, nullptr)) >= 0;) {
        switch (each) {
            case 's':
                options.solution = optarg;
                break;
            case 'c':
                options.chapter = optarg;
                break;
            case 'r':
                options.root = optarg;
                break;
            case 'd':
                options.dependencies = optarg;
                break;
            case 'o':
                options.output = optarg;
                break;
            case 'I':
                options.include_dirs.emplace_back(optarg);
                break;
            default:
                is_wrong = true;
        }
    }
    options.sources.assign(argv + optind, argv + argc);
    if (is_wrong || options.solution.empty() || options.chapter.empty() ||
        options.output.empty() || options.sources.empty()) {
        throw std::runtime_error(
            "usage: wb_bundle --solution SOLUTION.cu --chapter DIR [-I DIR]... "
            "[--root DIR] -o OUT.cu [--dependencies OUT.d] WRONG...");
    }
    return options;
}

std::vector<File> headers_of(const fs::path& chapter) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(chapter)) {
        const fs::path kind = entry.path().extension();
        if (kind == ".h" || kind == ".cuh") paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    std::vector<File> headers;
    for (const fs::path& path : paths)
        headers.push_back(read_file(path));
    return headers;
}

}  // namespace

int main(int argc, char** argv) try {
    const Options options = parse(argc, argv);
    std::vector<fs::path> include_dirs = options.include_dirs;
    include_dirs.insert(include_dirs.begin(), options.chapter);
    const Bundle bundle(read_file(options.solution),
                        headers_of(options.chapter),
                        options.sources,
                        include_dirs,
                        options.root);
    std::ofstream out(options.output);
    bundle.write(out);
    out.close();
    if (!out) throw std::runtime_error("cannot write " + options.output.string());
    if (!options.dependencies.empty()) {
        std::ofstream rule(options.dependencies);
        bundle.write_dependencies(rule, options.output.string());
    }
    return 0;
} catch (const std::exception& error) {
    std::cerr << "wb_bundle: " << error.what() << '\n';
    return 1;
}
