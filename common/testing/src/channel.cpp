// A test program's way to its supervisor. Runs before main(), and within handlers of
// signals: hence plain system calls.
#include "channel.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "settings.h"

namespace wb::testing {
namespace {

bool read_all(int socket, void* to, std::size_t bytes) {
    auto* next = static_cast<char*>(to);
    while (bytes > 0) {
        const ssize_t got = read(socket, next, bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        next += got;
        bytes -= static_cast<std::size_t>(got);
    }
    return true;
}

bool send_all(int socket, const void* from, std::size_t bytes) {
    const auto* next = static_cast<const char*>(from);
    while (bytes > 0) {
        const ssize_t sent = ::send(socket, next, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        next += sent;
        bytes -= static_cast<std::size_t>(sent);
    }
    return true;
}

/// The same socket under a number in the upper half of those that this process may use.
int moved_away(int socket) {
    rlimit limit{};
    unsigned random = 0;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        getrandom(&random, sizeof random, 0) != sizeof random)
        return socket;
    const auto most = static_cast<unsigned>(std::min<rlim_t>(limit.rlim_cur, 1 << 20));
    const int lowest = static_cast<int>(most / 2 + random % (most / 2 - most / 8));
    const int moved = fcntl(socket, F_DUPFD_CLOEXEC, lowest);
    if (moved < 0) return socket;
    close(socket);
    return moved;
}

/// Does a signal's handler return to this address? Then the next frame is that of the
/// instruction at which the signal came, and not a call.
bool is_return_of_handler(const void* pc) {
#if defined(__x86_64__)
    return std::memcmp(pc, "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9) == 0;
#else
    return std::memcmp(pc, "\x68\x11\x80\xd2\x01\x00\x00\xd4", 8) == 0;
#endif
}

}  // namespace

Channel::Channel() : process_(getpid()) {
    const char* number = std::getenv("WB_CHANNEL");
    if (!number) return;
    const int socket = std::atoi(number);
    unsetenv("WB_CHANNEL");
    Hello hello{};
    if (!read_all(socket, &hello, sizeof hello)) return;
    std::string text(hello.bytes, '\0');
    if (!read_all(socket, text.data(), text.size())) return;
    for (std::size_t at = 0; at < text.size(); at += arguments_.back().size() + 1)
        arguments_.emplace_back(text.c_str() + at);
    nonce_ = hello.nonce;
    socket_ = moved_away(socket);
}

Channel& Channel::instance() {
    static Channel& channel = *new Channel;  // never destroyed: used until the very end
    return channel;
}

void Channel::send(Frame type, const std::string& payload) const {
    if (!is_open() || getpid() != process_) return;
    const FrameHead head{nonce_, type, payload.size()};
    std::string frame(sizeof head, '\0');
    std::memcpy(frame.data(), &head, sizeof head);
    frame += payload;
    send_all(socket_, frame.data(), frame.size());
}

std::string stack_in_text() {
    constexpr int kDeepest = 100;
    void* frames[kDeepest];
    const int count = backtrace(frames, kDeepest);
    std::string text;
    for (int i = 0; i < count; ++i) {
        Dl_info info;
        link_map* map = nullptr;
        if (!dladdr1(frames[i], &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP))
            continue;
        // A return address is behind the call.
        const bool is_exact = i > 0 && is_return_of_handler(frames[i - 1]);
        if (map->l_name && *map->l_name) continue;  // a library's
        char line[32];
        std::snprintf(line,
                      sizeof line,
                      "0x%zx\n",
                      reinterpret_cast<std::size_t>(frames[i]) - map->l_addr -
                          (is_exact ? 0 : 1));
        text += line;
    }
    return text;
}

namespace {

// Before the constructors of all that is linked together. Numbers up to 100 are for who
// implements the language, and something like that this is.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wprio-ctor-dtor"
[[gnu::constructor(1)]] void take_first() {
    Channel::instance();
    remember_settings();
}
#pragma GCC diagnostic pop

}  // namespace
}  // namespace wb::testing
