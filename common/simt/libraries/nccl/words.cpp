// What the stand-in for NCCL says.

#include <cstdarg>
#include <cstdio>
#include <mutex>

#include "clique.h"
#include "core/finding.h"

namespace simt::nccl {
namespace {

std::mutex g_mutex;
std::string g_last;  // guarded by g_mutex

void print(const std::string& text) {
    {
        const std::lock_guard lock(g_mutex);
        g_last = text;
    }
    std::fprintf(stderr, "==SIMT== %s\n", text.c_str());
}

}  // namespace

std::string format(const char* format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

ncclResult_t refuse(ncclResult_t error, const std::string& text) {
    print(text);
    return error;
}

void found(FindingKind kind, const char* detail, const std::string& text,
           const std::string& advice) {
    Finding finding;
    finding.kind = kind;
    finding.detail = detail;
    finding.advice = advice;
    finding.lesson = detail::lesson_of(kind, detail);
    finding.text = text + "\n    Usual fix: " + advice;
    if (!finding.lesson.empty()) finding.text += "\n    Explained in " + finding.lesson;
    print(finding.text);
    detail::tell(finding);
}

}  // namespace simt::nccl

using namespace simt::nccl;

const char* ncclGetErrorString(ncclResult_t result) {
    switch (result) {
        case ncclSuccess:
            return "no error";
        case ncclUnhandledCudaError:
            return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
        case ncclSystemError:
            return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
        case ncclInternalError:
            return "internal error - please report this issue to the NCCL developers";
        case ncclInvalidArgument:
            return "invalid argument (run with NCCL_DEBUG=WARN for details)";
        case ncclInvalidUsage:
            return "invalid usage (run with NCCL_DEBUG=WARN for details)";
        case ncclRemoteError:
            return "remote process exited or there was a network error";
        case ncclInProgress:
            return "NCCL operation in progress";
        default:
            return "unknown result code";
    }
}

const char* ncclGetLastError(ncclComm_t comm) {
    thread_local std::string shown;
    const auto lock = simt::detail::lock_queue();
    if (comm && is_comm(comm) && !comm->text.empty()) {
        shown = comm->text;
    } else {
        const std::lock_guard last(g_mutex);
        shown = g_last;
    }
    return shown.c_str();
}
