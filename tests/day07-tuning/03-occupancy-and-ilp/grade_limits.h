/// grade_limits.h: judges what the learner computes, and names the likely mistake.
#pragma once

#include <wb/testing/catch.h>
#include <wb/testing/fail.h>

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "filling.h"

/// Ends the test case with a report for the learner.
[[noreturn]] inline void fail(const std::string& what, const std::string& more = "") {
    wb::testing::fail(wb::testing::Kind::wrong_result, what, more);
}

using wb::testing::result_of;

/// While it lives, an integer division by zero jumps to `after`, once that is set.
class DivisionGuard {
 public:
    DivisionGuard() {
        struct sigaction ours {};
        ours.sa_handler = [](int) { siglongjmp(after, 1); };
        sigaction(SIGFPE, &ours, &before_);
    }
    ~DivisionGuard() { sigaction(SIGFPE, &before_, nullptr); }
    DivisionGuard(const DivisionGuard&) = delete;
    DivisionGuard& operator=(const DivisionGuard&) = delete;

    static inline sigjmp_buf after;

 private:
    struct sigaction before_ {};
};

/// As result_of, but a division by zero fails this case, with a reason: it does not end
/// the program.
template <class F>
auto quotient_of(F call, const std::string& what, const std::string& more) {
    const DivisionGuard guard;
    if (sigsetjmp(DivisionGuard::after, 1) != 0) fail(what, more);
    return result_of(call);
}

/// "sm_90, {256 threads, 40 registers, 0 bytes}".
inline std::string in_words(const Multiprocessor& sm, const Needs& needs) {
    return "sm_" + std::to_string(sm.arch) + ", {" + std::to_string(needs.threads) +
           " threads, " + std::to_string(needs.registers) + " registers, " +
           std::to_string(needs.shared_bytes) + " bytes}";
}

inline const char* name_of(Limiter limiter) {
    constexpr const char* kNames[] = {"warps", "slots", "registers", "shared"};
    const auto i = static_cast<std::size_t>(limiter);
    return i < std::size(kNames) ? kNames[i] : "none of the four";
}

/// The row of the table.
inline const Multiprocessor& multiprocessor(int arch) {
    for (const Multiprocessor& sm : kMultiprocessors) {
        if (sm.arch == arch) return sm;
    }
    fail("multiprocessor.h has no architecture " + std::to_string(arch));
}

/// Which rule gives the wrong number if it is forgotten; "" if none does.
/// @param limit  takes one number out of Limits
inline std::string cause_of(const Multiprocessor& sm,
                            const Needs& needs,
                            int got,
                            int Limits::*limit) {
    struct Forgotten {
        Rules rules;
        const char* cause;
    };
    Forgotten all[5] = {
        {{}, "a block is made of whole warps: 33 threads are two"},
        {{}, "a warp's registers are rounded up to a multiple of kRegisterUnit"},
        {{},
         "a warp lives in one quarter and has its registers from there: what is "
         "left over in one quarter cannot be joined with that of another"},
        {{}, "each block loses shared_reserved bytes"},
        {{}, "shared memory is given in multiples of shared_unit"}};
    all[0].rules.whole_warps = false;
    all[1].rules.register_units = false;
    all[2].rules.quarters = false;
    all[3].rules.reserved_shared = false;
    all[4].rules.shared_units = false;
    for (const Forgotten& forgotten : all) {
        const Limits wrong = Filling(sm, needs, forgotten.rules).limits();
        if (got == wrong.*limit) return std::string("likely cause: ") + forgotten.cause;
    }
    return "";
}

/// Compares block_limits() with numbers that are known.
inline void expect_limits(const Multiprocessor& sm,
                          const Needs& needs,
                          const Limits& wanted) {
    const Limits got =
        quotient_of([&] { return block_limits(sm, needs); },
                    "block_limits(" + in_words(sm, needs) + ") divides by zero",
                    needs.shared_bytes + sm.shared_reserved == 0
                        ? "likely cause: such a block takes no shared "
                          "memory at all; the contract says what its "
                          "limit is then"
                        : "");
    const auto judge = [&](const char* field, int Limits::*limit) {
        if (got.*limit == wanted.*limit) return;
        fail("block_limits(" + in_words(sm, needs) + ")." + field + " is " +
                 std::to_string(got.*limit) + ", but " + std::to_string(wanted.*limit) +
                 " blocks fit",
             cause_of(sm, needs, got.*limit, limit));
    };
    judge("warps", &Limits::warps);
    judge("slots", &Limits::slots);
    judge("registers", &Limits::registers);
    judge("shared", &Limits::shared);
    CHECK(got.shared == wanted.shared);
}

/// Compares occupancy() with counting.
inline void expect_occupancy(const Multiprocessor& sm, const Needs& needs) {
    const Occupancy got = result_of([&] { return occupancy(sm, needs); });
    const Occupancy wanted = count_occupancy(sm, needs);
    const std::string call = "occupancy(" + in_words(sm, needs) + ")";
    if (got.blocks != wanted.blocks) {
        fail(call + ".blocks is " + std::to_string(got.blocks) + ", but " +
             std::to_string(wanted.blocks) + " fit");
    }
    if (got.warps != wanted.warps) {
        fail(call + ".warps is " + std::to_string(got.warps) + ", but " +
             std::to_string(wanted.blocks) + " blocks have " +
             std::to_string(wanted.warps));
    }
    if (got.limiter != wanted.limiter) {
        fail(call + ".limiter is " + name_of(got.limiter) + ", but it is " +
                 name_of(wanted.limiter),
             "the smallest limit; of equal ones the first of warps, slots, registers, "
             "shared");
    }
    CHECK(got.blocks == wanted.blocks);
}

/// Whether a budget is used up to the last register and the last byte.
inline void expect_budget(const Multiprocessor& sm, int threads, int blocks) {
    const Budget got = result_of([&] { return budget(sm, threads, blocks); });
    const std::string call = "budget(sm_" + std::to_string(sm.arch) + ", " +
                             std::to_string(threads) + " threads, " +
                             std::to_string(blocks) + " blocks)";
    const auto registers_fit = [&](int registers) {
        return registers >= 1 &&
               Filling(sm, {threads, registers, 0}).by_registers() >= blocks;
    };
    const auto shared_fits = [&](int64_t bytes) {
        return bytes >= 0 ? Filling(sm, {threads, 1, bytes}).by_shared() : 0;
    };
    const std::string registers =
        call + ".registers is " + std::to_string(got.registers);
    if (got.registers < 1 || got.registers > kRegistersOfAThread)
        fail(registers + ", but a thread has 1 to 255");
    if (!registers_fit(got.registers)) fail(registers + ", but then fewer blocks fit");
    if (got.registers < kRegistersOfAThread && registers_fit(got.registers + 1))
        fail(registers + ", but as many blocks fit with one more");
    const std::string shared =
        call + ".shared_bytes is " + std::to_string(got.shared_bytes);
    if (shared_fits(got.shared_bytes) != blocks) {
        fail(shared + ", but with so much " +
             std::to_string(shared_fits(got.shared_bytes)) + " blocks fit");
    }
    if (shared_fits(got.shared_bytes + 1) == blocks)
        fail(shared + ", but as many blocks fit with one byte more");
    CHECK(registers_fit(got.registers));
}
