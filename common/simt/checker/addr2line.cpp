#include "addr2line.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>

extern char** environ;

namespace simt::check {
namespace {

/// One addr2line process, for one executable or library. It lives as long as we do.
class Lines {
 public:
    explicit Lines(const std::string& path) {
        int to[2], from[2];
        if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) return;
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, to[0], 0);
        posix_spawn_file_actions_adddup2(&actions, from[1], 1);
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
        const char* argv[] = {"addr2line", "-afiC", "-e", path.c_str(), nullptr};
        pid_t child = 0;
        const int failed = posix_spawnp(
            &child, argv[0], &actions, nullptr, const_cast<char**>(argv), environ);
        posix_spawn_file_actions_destroy(&actions);
        close(to[0]);
        close(from[1]);
        if (failed) {
            close(to[1]);
            close(from[0]);
            std::fprintf(stderr,
                         "==SIMT== reports have no source lines: addr2line is missing "
                         "(install the package binutils)\n");
            return;
        }
        question_ = fdopen(to[1], "w");
        answer_ = fdopen(from[0], "r");
    }

    /// A frame is a function, and a place in it.
    struct Frame {
        std::string function, line;
    };

    std::vector<Frame> ask(uintptr_t address) {
        std::vector<Frame> frames;
        if (!question_ || !answer_) return frames;
        // How many lines an answer has is not said: the next one's head ends it.
        std::fprintf(question_, "0x%zx\n0x0\n", static_cast<size_t>(address));
        std::fflush(question_);
        read_line();  // repeats the address
        for (;;) {
            std::string function = read_line();
            if (function.empty()) break;
            std::string line = read_line();
            if (function.rfind("0x", 0) == 0) {
                read_line();  // ?? and ??:0, the place of address 0
                break;
            }
            line.resize(std::min(line.size(), line.find(" (discriminator")));
            frames.push_back({std::move(function), std::move(line)});
        }
        return frames;
    }

 private:
    std::string read_line() {
        std::string line;
        int c = 0;
        while ((c = std::getc(answer_)) != EOF && c != '\n')
            line += static_cast<char>(c);
        return line;
    }

    FILE* question_ = nullptr;
    FILE* answer_ = nullptr;
};

std::vector<Lines::Frame> frames_at(uintptr_t pc) {
    Dl_info info;
    link_map* map = nullptr;
    if (!dladdr1(reinterpret_cast<void*>(pc),
                 &info,
                 reinterpret_cast<void**>(&map),
                 RTLD_DL_LINKMAP))
        return {};
    const std::string name =
        map->l_name && *map->l_name ? map->l_name : "/proc/self/exe";
    // Never destroyed: reports are written while the program exits.
    static auto& processes = *new std::map<std::string, std::unique_ptr<Lines>>;
    auto& process = processes[name];
    if (!process) {
        std::error_code error;
        const auto real = std::filesystem::canonical(name, error);
        process = std::make_unique<Lines>(error ? name : real.string());
    }
    return process->ask(pc - map->l_addr);
}

}  // namespace

std::vector<std::string> lines_at(uintptr_t pc) {
    std::vector<std::string> lines;
    for (Lines::Frame& frame : frames_at(pc))
        lines.push_back(std::move(frame.line));
    return lines;
}

std::string function_at(uintptr_t pc) {
    const std::vector<Lines::Frame> frames = frames_at(pc);
    return frames.empty() || frames.back().function == "??" ? ""
                                                            : frames.back().function;
}

}  // namespace simt::check
