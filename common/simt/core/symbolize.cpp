#include "symbolize.h"

#include <dlfcn.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>

extern char** environ;

namespace simt::detail {
namespace {

struct Module {
    std::string path;
    std::vector<std::string> addresses;  // hexadecimal, as in the file
};

/// The frames grouped by executable or library; innermost first.
std::vector<Module> modules_of(const std::vector<void*>& frames) {
    std::vector<Module> modules;
    for (void* pc : frames) {
        Dl_info info;
        link_map* map = nullptr;
        if (!dladdr1(pc, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP))
            continue;
        const char* name = map->l_name;
        const std::string path = name && *name ? name : "/proc/self/exe";
        if (path.rfind("/lib", 0) == 0 || path.rfind("/usr/lib", 0) == 0) continue;
        char address[32];
        std::snprintf(address,
                      sizeof address,
                      "0x%zx",
                      reinterpret_cast<uintptr_t>(pc) - map->l_addr);
        if (modules.empty() || modules.back().path != path)
            modules.push_back({path, {}});
        modules.back().addresses.push_back(address);
    }
    return modules;
}

std::string real_path(const std::string& path) {
    std::error_code error;
    const auto real = std::filesystem::canonical(path, error);
    return error ? path : real.string();
}

/// Runs a program and returns what it prints; "" if it cannot be run.
std::string output_of(const std::vector<std::string>& command) {
    int fds[2];
    if (pipe(fds) != 0) return "";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
    posix_spawn_file_actions_addclose(&actions, fds[0]);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
    std::vector<char*> argv;
    for (const auto& word : command)
        argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    pid_t child = 0;
    const int failed =
        posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    std::string text;
    char buffer[4096];
    ssize_t n = 0;
    while (!failed && (n = read(fds[0], buffer, sizeof buffer)) > 0)
        text.append(buffer, static_cast<size_t>(n));
    close(fds[0]);
    if (!failed) waitpid(child, nullptr, 0);
    return text;
}

}  // namespace

namespace {

/// The simulator's own files, from its folder on; CMake lists them.
const std::vector<std::string_view>& own_files() {
    // Never destroyed: reports are written while the program exits.
    static const auto& sorted = *new auto([] {
        std::vector<std::string_view> files = {
#include "simt_own_files.inc"
        };
        std::sort(files.begin(), files.end());
        return files;
    }());
    return sorted;
}

}  // namespace

std::string own_path(const std::string& file) {
    // Not by the folder in which this file was compiled: a compiler's cache may have
    // brought any part of the program from a copy of the simulator that lies elsewhere.
    static constexpr std::string_view kRoot = SIMT_ROOT_NAME "/";
    const std::string path = std::filesystem::path(file).lexically_normal();
    const std::string_view whole =
        std::string_view(path).substr(0, path.find(':', path.rfind('/') + 1));
    for (size_t at = whole.find(kRoot); at != whole.npos;
         at = whole.find(kRoot, at + 1)) {
        if (at != 0 && whole[at - 1] != '/') continue;
        const size_t begin = at + kRoot.size();
        if (std::binary_search(
                own_files().begin(), own_files().end(), whole.substr(begin)))
            return path.substr(begin);
    }
    return "";
}

bool is_users(const std::string& file) {
    return !file.empty() && file[0] != '?' && file.rfind("/usr/", 0) != 0 &&
           own_path(file).empty();
}

std::string user_place(const std::vector<void*>& frames) {
    for (const Module& module : modules_of(frames)) {
        std::vector<std::string> command = {
            "addr2line", "-i", "-e", real_path(module.path)};
        command.insert(command.end(), module.addresses.begin(), module.addresses.end());
        const std::string text = output_of(command);
        for (size_t begin = 0; begin < text.size();) {
            size_t end = text.find('\n', begin);
            if (end == std::string::npos) end = text.size();
            std::string line = text.substr(begin, end - begin);
            begin = end + 1;
            line = line.substr(0, line.find(" (discriminator"));
            const size_t colon = line.rfind(':');
            if (colon == std::string::npos || !is_users(line.substr(0, colon)))
                continue;
            return line;
        }
    }
    return "";
}

}  // namespace simt::detail
