#include <wb/errors.h>
#include <wb/exercise.h>
#include <wb/implementations.h>

#include <cstdlib>
#include <fstream>

namespace wb {
namespace {

/// The path as the learner sees it from the workbook's folder.
std::string workbook_path(const std::string& file) {
    const auto day = file.rfind("day0");
    if (day == std::string::npos) return file;
    const auto start = file.rfind("/day", day);
    return start == std::string::npos ? file : file.substr(start + 1);
}

}  // namespace

void not_solved(const char* file, int line) {
    const std::string path = workbook_path(file);
    std::string places;
    std::vector<NotSolved::Place> todos;
    std::ifstream source(file);
    std::string text;
    for (int number = 1; std::getline(source, text); ++number) {
        if (text.find("TODO(learner)") == std::string::npos) continue;
        places += (places.empty() ? "" : ", ") + path + ":" + std::to_string(number);
        todos.push_back({path, number});
    }
    if (todos.empty()) todos.push_back({path, line});
    const std::string here = path + ":" + std::to_string(line);
    throw NotSolved("not solved yet: write the TODO in " +
                        (places.empty() ? here : places) +
                        ", then delete WB_NOT_SOLVED() in " + here,
                    todos);
}

namespace {

std::vector<Rung>& registry() {
    static std::vector<Rung> all;
    return all;
}

/// Those of them that a learner writes.
std::vector<Rung>& versions() {
    static std::vector<Rung> all;
    return all;
}

constinit bool has_rungs = true;

}  // namespace

bool register_rung(const char* exercise,
                   const char* name,
                   const char* idea,
                   void (*function)()) {
    registry().push_back({exercise, name, idea, function});
    return true;
}

bool detail::register_rungs(const char* exercise,
                            const char* version,
                            const char* idea,
                            void (*fp16)(),
                            void (*bf16)()) {
    const std::string name = std::string(exercise) + "_" + version;
    const std::string base = exercise;
    return register_rung((base + "_fp16").c_str(), name.c_str(), idea, fp16) &&
           register_rung((base + "_bf16").c_str(), name.c_str(), idea, bf16);
}

bool detail::register_versions(const char* exercise,
                               const char* version,
                               void (*fp16)(),
                               void (*bf16)()) {
    register_rungs(exercise, version, "", fp16, bf16);
    const std::vector<Rung>& all = registry();
    versions().insert(versions().end(), all.end() - 2, all.end());
    return true;
}

bool detail::register_part(const char* name, void (*function)()) {
    register_rung(name, name, "", function);
    versions().push_back(registry().back());
    return true;
}

const std::vector<Rung>& rungs() {
    return has_rungs ? registry() : versions();
}

bool leave_out_rungs() {
    has_rungs = false;
    return true;
}

}  // namespace wb
