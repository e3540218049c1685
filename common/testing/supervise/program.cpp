// Runs a test program, reads the frames that it sends, and waits for its end.
#include "program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "../src/channel_protocol.h"

namespace wb::supervise {
namespace {

using testing::Frame;
using testing::FrameHead;
using testing::Hello;
using testing::Nonce;

[[noreturn]] void fail(const std::string& what) {
    throw std::runtime_error(what + ": " + std::strerror(errno));
}

/// Sorts the bytes that come into frames.
class Frames {
 public:
    Frames(const Nonce& nonce,
           Run& run,
           const std::function<void(const std::string&)>& on_document)
        : nonce_(nonce), run_(run), on_document_(on_document) {}

    void take(const char* bytes, std::size_t count) {
        if (run_.is_disturbed) return;
        rest_.append(bytes, count);
        while (rest_.size() >= sizeof(FrameHead)) {
            FrameHead head;
            std::memcpy(&head, rest_.data(), sizeof head);
            if (head.nonce != nonce_ || head.bytes > testing::kLongestFrame) {
                run_.is_disturbed = true;
                return;
            }
            const std::size_t size = sizeof head + head.bytes;
            if (rest_.size() < size) return;
            frame(head.type, rest_.substr(sizeof head, head.bytes));
            rest_.erase(0, size);
        }
    }
    /// Nothing more will come.
    void end() {
        if (!rest_.empty()) run_.is_disturbed = true;
    }

 private:
    void frame(Frame type, std::string payload) {
        switch (type) {
            case Frame::document:
                run_.document = std::move(payload);
                on_document_(run_.document);
                break;
            case Frame::names:
                run_.names = std::move(payload);
                break;
            case Frame::exit:
                run_.has_called_exit = true;
                run_.exit_stack = std::move(payload);
                break;
            case Frame::quick_exit:
                run_.has_called_quick_exit = true;
                run_.exit_stack = std::move(payload);
                break;
            case Frame::crash:
                run_.crash_stack = std::move(payload);
                break;
        }
    }

    Nonce nonce_;
    Run& run_;
    const std::function<void(const std::string&)>& on_document_;
    std::string rest_;
};

void greet(int socket, const Nonce& nonce, const std::vector<std::string>& command) {
    std::string arguments;
    for (const std::string& argument : command)
        arguments += argument + '\0';
    const Hello hello{nonce, arguments.size()};
    std::string text(sizeof hello, '\0');
    std::memcpy(text.data(), &hello, sizeof hello);
    text += arguments;
    if (write(socket, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        fail("cannot hand over the arguments");
}

[[noreturn]] void become(const std::vector<std::string>& command,
                         int socket,
                         bool is_silent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    fcntl(socket, F_SETFD, 0);  // stays open
    setenv("WB_CHANNEL", std::to_string(socket).c_str(), 1);
    unsetenv("WB_VERDICT");
    if (is_silent) dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    std::vector<char*> argv;
    for (const std::string& argument : command)
        argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
}

/// Reads what is there; false at the end.
bool read_some(int socket, Frames& frames) {
    char buffer[1 << 16];
    for (;;) {
        const ssize_t got = recv(socket, buffer, sizeof buffer, MSG_DONTWAIT);
        if (got > 0) frames.take(buffer, static_cast<std::size_t>(got));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno == EAGAIN;
        if (got == 0) return false;
    }
}

std::string name_of(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/comm");
    std::string name;
    std::getline(file, name);
    return name;
}

/// Processes that the program has left behind came to us (PR_SET_CHILD_SUBREAPER).
void end_descendants() {
    const std::string list =
        "/proc/self/task/" + std::to_string(getpid()) + "/children";
    for (;;) {
        std::ifstream file(list);
        bool any = false;
        for (pid_t process = 0; file >> process; any = true)
            kill(process, SIGKILL);
        if (!any) return;
        while (waitpid(-1, nullptr, 0) > 0) {
        }
    }
}

}  // namespace

Run run(const std::vector<std::string>& command,
        bool is_silent,
        const std::function<void(const std::string&)>& on_document) {
    Run result;
    Nonce nonce;
    int ends[2];
    if (getrandom(nonce.data(), nonce.size(), 0) !=
            static_cast<ssize_t>(nonce.size()) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        fail("cannot make a channel");
    greet(ends[0], nonce, command);

    // Its end is an event like bytes that come.
    sigset_t child_ends;
    sigemptyset(&child_ends);
    sigaddset(&child_ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ends, nullptr);
    const int signals = signalfd(-1, &child_ends, SFD_CLOEXEC | SFD_NONBLOCK);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t child = fork();
    if (child < 0 || signals < 0) fail("cannot start a program");
    if (child == 0) become(command, ends[1], is_silent);
    close(ends[1]);

    Frames frames(nonce, result, on_document);
    pollfd watched[] = {{signals, POLLIN, 0}, {ends[0], POLLIN, 0}};
    for (siginfo_t ended{}; ended.si_pid != child;) {
        poll(watched, 2, -1);
        signalfd_siginfo dropped;
        while (read(signals, &dropped, sizeof dropped) > 0) {
        }
        // In this order: what it sent before its end is then there to be read.
        waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
        if (watched[1].fd >= 0 && !read_some(ends[0], frames)) watched[1].fd = -1;
    }
    frames.end();
    result.last_name = name_of(child);
    waitpid(child, &result.wait_status, 0);
    end_descendants();
    return result;
}

}  // namespace wb::supervise
