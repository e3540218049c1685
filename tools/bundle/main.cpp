// wb_bundle: many implementations of one chapter in one translation unit.
//
//     wb_bundle --solution SOLUTION.cu --chapter DIR [-I DIR]… [--root DIR]
//               -o OUT.cu [-MF OUT.d] WRONG…
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
// their text stands in its namespace. So do .cu files, such as the solution's.
// Compilers and reports see the lines of the original files (#line).
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

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        fs::path* target = word == "--solution"  ? &options.solution
                           : word == "--chapter" ? &options.chapter
                           : word == "--root"    ? &options.root
                           : word == "-o"        ? &options.output
                           : word == "-MF"       ? &options.dependencies
                                                 : nullptr;
        if (!target && word != "-I") {
            options.sources.emplace_back(word);
            continue;
        }
        if (++i == argc) throw std::runtime_error(word + " needs a value");
        if (target) {
            *target = argv[i];
        } else {
            options.include_dirs.emplace_back(argv[i]);
        }
    }
    if (options.solution.empty() || options.chapter.empty() || options.output.empty() ||
        options.sources.empty()) {
        throw std::runtime_error(
            "usage: wb_bundle --solution SOLUTION.cu --chapter DIR [-I DIR]... "
            "[--root DIR] -o OUT.cu [-MF OUT.d] WRONG...");
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
