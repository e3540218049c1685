// wb_starter: the starter is the solution minus lines.
//
//     wb_starter solution.cu [starter.cu]        (to standard output without a file)
//     wb_starter --check solution.cu starter.cu  (says whether they belong together)
//
// Markers in a solution, each a line of its own:
//     // #solution        the lines up to the matching // #end are left out
//     // #end
//     // #starter TEXT    TEXT stands in the starter only, with the same indentation
// Everything else, lesson regions (`// #region x`) included, is in both.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

constexpr const char* kBegin = "// #solution";
constexpr const char* kEnd = "// #end";
constexpr const char* kStarter = "// #starter ";

struct Line {
    std::string indent;
    std::string text;
};

Line split(const std::string& line) {
    const auto start = line.find_first_not_of(" \t");
    if (start == std::string::npos) return {"", ""};
    return {line.substr(0, start), line.substr(start)};
}

[[noreturn]] void fail(int number, const std::string& what) {
    throw std::runtime_error("line " + std::to_string(number) + ": " + what);
}

/// The starter's text. Throws std::runtime_error for markers that do not match, and
/// for a solution without any: its starter would give everything away.
std::string starter_of(std::istream& solution) {
    std::ostringstream starter;
    std::string line;
    int opened = 0;
    int removed = 0;
    bool blank_before = false;
    for (int number = 1; std::getline(solution, line); ++number) {
        const auto [indent, text] = split(line);
        if (text == kBegin) {
            if (opened != 0) fail(number, "#solution inside of #solution");
            opened = number;
        } else if (text == kEnd) {
            if (opened == 0) fail(number, "#end without #solution");
            opened = 0;
            ++removed;
        } else if (opened != 0) {
            continue;
        } else {
            const bool only_here = text.rfind(kStarter, 0) == 0;
            const std::string shown =
                only_here ? indent + text.substr(std::string(kStarter).size()) : line;
            // What was cut out may leave two blank lines in a row.
            if (shown.empty() && blank_before) continue;
            blank_before = shown.empty();
            starter << shown << '\n';
        }
    }
    if (opened != 0) fail(opened, "#solution without #end");
    if (removed == 0) fail(1, "no #solution: nothing is left for the learner");
    return starter.str();
}

std::string contents(const char* path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error(std::string("cannot read ") + path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

int run(int argc, char** argv) {
    const bool check = argc == 4 && std::string(argv[1]) == "--check";
    if (!check && argc != 2 && argc != 3) {
        std::cerr << "usage: wb_starter solution.cu [starter.cu]\n"
                     "       wb_starter --check solution.cu starter.cu\n";
        return 2;
    }
    std::istringstream solution(contents(argv[check ? 2 : 1]));
    const std::string starter = starter_of(solution);
    if (check) {
        if (contents(argv[3]) == starter) return 0;
        std::cerr << argv[3] << " is not what " << argv[2]
                  << " gives; make it anew: wb_starter solution.cu starter.cu\n";
        return 1;
    }
    if (argc == 2) {
        std::cout << starter;
        return 0;
    }
    std::ofstream file(argv[2]);
    file << starter;
    file.close();
    if (!file) throw std::runtime_error(std::string("cannot write ") + argv[2]);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << "wb_starter: " << (argc > 1 ? argv[argc > 3 ? 2 : 1] : "") << ": "
                  << error.what() << '\n';
        return 1;
    }
}
