// Learners who would be graded without having solved the exercise: the variable
// WB_CHEAT says by which trick. None may pass. "none" is right.
#include "cheats.h"

#include <fcntl.h>
#include <setjmp.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

namespace {

const char kForged[] =
    "{\n \"format\": \"warpbook verdict 1\",\n \"chapter\": \"\",\n"
    " \"program\": \"common_cheats\",\n \"backend\": \"simulator\",\n"
    " \"checked\": false,\n \"ended\": true,\n \"cases\": [\n  {\n"
    "   \"name\": \"doubles\",\n   \"verdict\": \"passed\",\n   \"reason\": \"\",\n"
    "   \"seconds\": 0.1,\n   \"findings\": []\n  }\n ],\n \"findings\": []\n}\n";

bool is_cheat(const char* name) {
    const char* chosen = std::getenv("WB_CHEAT");
    return chosen && std::strcmp(chosen, name) == 0;
}

/// The variable that the supervisor keeps from its child is in its own environment.
std::string verdict_file() {
    std::ifstream file("/proc/" + std::to_string(getppid()) + "/environ");
    for (std::string entry; std::getline(file, entry, '\0');)
        if (entry.rfind("WB_VERDICT=", 0) == 0) return entry.substr(11);
    return "";
}

void forge(const std::string& file) {
    std::ofstream(file) << kForged;
}

void forge_later() {
    const std::string file = verdict_file();
    if (fork() != 0) return;
    setsid();
    if (fork() != 0) _exit(0);
    usleep(300 * 1000);
    forge(file);
    _exit(0);
}

/// To each file that is open, as if one of them led to whoever grades.
void write_everywhere() {
    std::signal(SIGPIPE, SIG_IGN);
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const int file = std::stoi(entry.path().filename());
        if (file < 3 || write(file, kForged, sizeof kForged - 1) < 0) continue;
    }
}

/// Over what is open, and over all that may be looked for.
void copy_everywhere() {
    for (int file = 3; file < 1024; ++file)
        dup2(STDOUT_FILENO, file);
    std::fputs(kForged, stdout);
    std::fflush(stdout);
}

void leave_and_let_another_go_on() {
    if (fork() != 0) _exit(0);
}

void let_another_leave() {
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    waitpid(child, nullptr, 0);
}

jmp_buf g_way_out;

void jump() {
    // The function that set this has returned long ago.
    longjmp(g_way_out, 1);
}

void crash() {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
}

void throw_in_thread() {
    std::thread([] { throw 1; }).join();
}

/// What each does within the launcher.
const std::map<std::string, void (*)()>& tricks() {
    static const std::map<std::string, void (*)()> all = {
        {"exit", [] { std::exit(0); }},
        {"_exit", [] { _exit(0); }},
        {"_Exit", [] { std::_Exit(0); }},
        {"quick_exit", [] { std::quick_exit(0); }},
        {"abort", [] { std::abort(); }},
        {"terminate", [] { std::terminate(); }},
        {"thread exits", [] { std::thread([] { std::exit(0); }).join(); }},
        {"thread throws", throw_in_thread},
        {"main thread exits", [] { pthread_exit(nullptr); }},
        {"SIGKILL", [] { std::raise(SIGKILL); }},
        {"SIGTERM", [] { std::raise(SIGTERM); }},
        {"crash", crash},
        {"longjmp", jump},
        {"exec", [] { execl("/bin/true", "common_cheats", nullptr); }},
        {"close all", [] { syscall(SYS_close_range, 3, ~0U, 0), _exit(0); }},
        {"forge file", [] { forge(verdict_file()), _exit(0); }},
        {"forge later", [] { forge_later(), _exit(0); }},
        {"print", [] { std::fputs(kForged, stdout), std::exit(0); }},
        {"write everywhere", [] { write_everywhere(), _exit(0); }},
        {"copy everywhere", [] { copy_everywhere(), _exit(0); }},
        {"leave, go on", leave_and_let_another_go_on},
        {"let leave", let_another_leave},
        {"atexit", [] { std::atexit([] { _exit(0); }); }},
        {"atexit forges", [] { std::atexit([] { forge(verdict_file()), _exit(0); }); }},
        {"sets", [] { setenv("SIMT_POISON", "0", 1); }},
        {"kill parent",
         [] { forge(verdict_file()), kill(getppid(), SIGKILL), usleep(100000); }},
    };
    return all;
}

/// Before main(), where argv can be written to.
[[gnu::constructor]] void begin(int argc, char** argv) {
    if (setjmp(g_way_out) != 0) _exit(0);
    if (is_cheat("constructor exits")) _exit(0);
    if (is_cheat("lists less") && argc > 1 && std::strstr(argv[1], "list")) {
        std::puts("is trivial");
        std::fflush(stdout);
        _exit(0);
    }
    if (is_cheat("other case") && argc > 1) std::strcpy(argv[1], "is *");
}

/// A static object that ends the program.
const bool g_static = [] {
    if (is_cheat("static exits")) std::exit(0);
    return true;
}();

/// A static object that would be graded less strictly.
const bool g_setting = [] {
    if (is_cheat("static sets")) setenv("SIMT_TIGHT", "0", 1);
    return true;
}();

/// A static object that ends the program when it is destroyed.
struct Destroyed {
    ~Destroyed() {
        if (is_cheat("destructor exits")) _exit(0);
    }
} g_destroyed;

__global__ void twice(const float* x, float* y, int64_t n, float factor) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

}  // namespace

void launch_twice(const float* x, float* y, int64_t n, cudaStream_t stream) {
    const char* chosen = std::getenv("WB_CHEAT");
    const auto trick = tricks().find(chosen ? chosen : "");
    if (trick != tricks().end()) trick->second();
    const bool is_right = is_cheat("none") || is_cheat("leave, go on") ||
                          is_cheat("destructor exits") || is_cheat("sets") ||
                          is_cheat("static sets");
    twice<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
        x, y, n, is_right ? 2.0f : 3.0f);
}
