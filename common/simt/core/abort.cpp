// What ends a program when the C library finds its heap damaged: it says "malloc():
// corrupted top size" and calls abort(). In most CUDA programs a kernel that writes
// behind its malloc's memory has done it, so this says so before the program ends.
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "fault.h"
#include "scheduler.h"
#include "signals.h"

namespace simt::detail {
namespace {

struct sigaction g_before;  // us

/// What the C library has said last before it calls abort(); it keeps it for debuggers.
struct AbortMessage {
    uint32_t bytes;
    char text[1];
};
const AbortMessage* const* g_message = nullptr;

bool is_of_the_heap(const char* text) {
    for (const char* word : {"malloc", "free(", "realloc(", "corrupt", "chunk"})
        if (std::strstr(text, word)) return true;
    return false;
}

/// The heap's locks may be held: nothing here may allocate.
void say(const Worker* w) {
    char text[512];
    const Config* c = w && w->thread ? w->launch->config : nullptr;
    const char* file = c && c->file ? c->file : "?";
    const char* slash = std::strrchr(file, '/');
    char who[200] = "host code";
    if (c)
        std::snprintf(who,
                      sizeof who,
                      "kernel %s launched at %s:%d",
                      w->launch->body->name,
                      slash ? slash + 1 : file,
                      c->line);
    const int bytes = std::snprintf(
        text,
        sizeof text,
        "==SIMT== %s: the C library's heap is damaged; has a kernel written past the "
        "end of memory from malloc or new? simt-c++ --check names the line\n",
        who);
    [[maybe_unused]] const ssize_t written =
        write(STDERR_FILENO, text, static_cast<size_t>(bytes));
}

void on_abort(int sig) {
    if (*g_message && is_of_the_heap((*g_message)->text)) say(worker);
    sigaction(sig, &g_before, nullptr);
    raise(sig);  // the handler of the program, or the end
}

}  // namespace

void explain_aborts() {
    if (!g_message)
        g_message =
            static_cast<const AbortMessage* const*>(dlsym(RTLD_DEFAULT, "__abort_msg"));
    if (!g_message) return;  // another C library
    struct sigaction mine {};
    mine.sa_handler = on_abort;
    mine.sa_flags = SA_NODEFER | SA_ONSTACK;
    struct sigaction current;
    sigaction(SIGABRT, &mine, &current);
    if (current.sa_handler != on_abort) g_before = current;
}

}  // namespace simt::detail
