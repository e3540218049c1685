#include "place.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

extern char** environ;

namespace wb::supervise {
namespace {

/// What a program prints; "" if it cannot be run.
std::string output_of(std::vector<std::string> command) {
    int ends[2];
    if (pipe(ends) != 0) return "";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    std::vector<char*> argv;
    for (std::string& word : command)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t child = 0;
    const bool runs =
        posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string text;
    std::array<char, 4096> buffer;
    for (ssize_t n = 0; (n = read(ends[0], buffer.data(), buffer.size())) > 0;)
        text.append(buffer.data(), static_cast<std::size_t>(n));
    close(ends[0]);
    if (runs) waitpid(child, nullptr, 0);
    return text;
}

/// A chapter's file, of a learner's or of ours, but none of the framework.
bool is_chapters(const std::string& file) {
    for (const char* folder : {"common/simt/",
                               "common/testing/src/",
                               "common/src/",
                               "common/include/",
                               "common/testing/include/",
                               "build/"})
        if (file.starts_with(folder)) return false;
    return true;
}

SourceLine first_line(const std::string& text) {
    const std::string root = WB_SOURCE_DIR "/";
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t colon = line.rfind(':');
        if (colon == line.npos || !line.starts_with(root)) continue;
        const std::string file =
            std::filesystem::path(line.substr(0, colon)).lexically_normal();
        const int number = std::atoi(line.c_str() + colon + 1);
        if (number > 0 && file.starts_with(root) &&
            is_chapters(file.substr(root.size())))
            return {file.substr(root.size()), number};
    }
    return {};
}

}  // namespace

SourceLine place_in(const std::string& stack, const std::string& program) {
    std::vector<std::string> command = {"addr2line", "-i", "-e", program};
    std::istringstream frames(stack);
    for (std::string offset; frames >> offset;)
        command.push_back(offset);
    return command.size() == 4 ? SourceLine{} : first_line(output_of(command));
}

}  // namespace wb::supervise
