#pragma once
// What is found while several GPUs compute: gathered, with communicators numbered, and
// over in seconds.

#include <chrono>
#include <mutex>
#include <string>

#include "nccl_fixture.h"
#include "simt/finding.h"
#include "simt/nccl_limit.h"

namespace {

constexpr size_t kSize = 16;

std::mutex g_mutex;
std::vector<simt::Finding> g_findings;

/// The text with communicators numbered from 1 in the order in which it names them.
std::string renumbered(const std::string& text) {
    std::string result;
    std::vector<std::string> seen;
    size_t from = 0;
    const std::string word = "communicator ";
    for (;;) {
        const size_t at = text.find(word, from);
        if (at == text.npos) break;
        const size_t digits = at + word.size();
        const size_t end = text.find_first_not_of("0123456789", digits);
        result += text.substr(from, digits - from);
        from = digits;
        if (end == digits) continue;
        const std::string number = text.substr(digits, end - digits);
        size_t index = 0;
        while (index < seen.size() && seen[index] != number)
            ++index;
        if (index == seen.size()) seen.push_back(number);
        result += std::to_string(index + 1);
        from = end == text.npos ? text.size() : end;
    }
    return result + text.substr(from);
}

/// What a finding says is wrong, without how it is fixed.
std::string text_of(const simt::Finding& f) {
    return renumbered(f.text.substr(0, f.text.find("\n    Usual fix: ")));
}

/// Gathers what is found while it lives.
struct Watch {
    std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    Watch() {
        simt::set_nccl_limit(1);
        g_findings.clear();
        simt::on_finding([](const simt::Finding& f) {
            const std::lock_guard lock(g_mutex);
            g_findings.push_back(f);
        });
    }
    ~Watch() {
        simt::on_finding(nullptr);
        simt::set_nccl_limit(8);
        const std::chrono::duration<double> seconds =
            std::chrono::steady_clock::now() - begin;
        EXPECT(seconds.count() < 10);
    }
    /// Whether just this was found.
    bool found(simt::FindingKind kind, const std::string& text) const {
        if (g_findings.size() == 1 && g_findings[0].kind == kind &&
            text_of(g_findings[0]) == text)
            return true;
        std::printf("    expected: %s\n", text.c_str());
        for (const simt::Finding& f : g_findings)
            std::printf("    found:    %s: %s\n", kind_name(f.kind), f.text.c_str());
        return false;
    }
};

/// The asynchronous error of a rank.
ncclResult_t error_of(ncclComm_t comm) {
    ncclResult_t error = ncclInProgress;
    NCCL_OK(ncclCommGetAsyncError(comm, &error));
    return error;
}

/// What was said last.
std::string last_error(ncclComm_t comm = nullptr) {
    return renumbered(ncclGetLastError(comm));
}

struct Two : Ranks {
    Buffers<float> x;
    Two() : Ranks(2), x(2, kSize) {
        for (int rank = 0; rank < 2; ++rank)
            x.set(rank, values_of<float>(rank, kSize));
    }
    ncclResult_t all_reduce(int rank, size_t count = kSize) {
        return ncclAllReduce(x.p[rank],
                             x.p[rank],
                             count,
                             ncclFloat,
                             ncclSum,
                             comms[rank],
                             streams[rank]);
    }
};

}  // namespace
