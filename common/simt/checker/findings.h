/// checker/findings.h: the mistakes that the checker has found.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simt/core.h"
#include "simt/finding.h"
#include "sites.h"

namespace simt::check {

/// What a finding is about; kind_name() gives the names of the JSON.
using Kind = FindingKind;

/// Mistakes that are told apart by more than their kind.
#define SIMT_DETAILS(DETAIL)                                                   \
    DETAIL(none)                                                               \
    DETAIL(same_warp)     /* a race in a warp, and the block has no other */   \
    DETAIL(warp_of_block) /* in a warp, but others may do the same */          \
    DETAIL(same_block)    /* between warps of a block */                       \
    DETAIL(blocks)        /* between blocks */                                 \
    DETAIL(fence)         /* ordered, had an atomic operation a fence */       \
    DETAIL(scope)         /* between blocks; an atomic's scope is the block */ \
    DETAIL(read_only)     /* __ldg of what the kernel writes */                \
    DETAIL(cluster)       /* in the shared memory of a block of the cluster */ \
    DETAIL(update)        /* x += 1 by several threads */                      \
    DETAIL(writers)       /* x = y by several threads */                       \
    DETAIL(proxy)         /* TMA or tensor cores, without fence.proxy.async */ \
    DETAIL(barrier)       /* an mbarrier, without fence.mbarrier_init */       \
    DETAIL(async)         /* an asynchronous copy that was not waited for */   \
    DETAIL(dependency)    /* between a launch and the one before it */         \
    DETAIL(streams)       /* between launches of two streams */                \
    DETAIL(index)         /* an index, of an array whose extent is known */    \
    DETAIL(shared)        /* in shared memory */

enum class Detail : uint8_t {
#define SIMT_DETAIL(name) name,
    SIMT_DETAILS(SIMT_DETAIL)
#undef SIMT_DETAIL
};

/// "same_warp"; "" for none.
const char* detail_name(Detail detail);

/// A thread of a launch.
struct Who {
    uint3 block{};
    uint3 thread{};
};

/// One mistake, at one place (a race: at two).
struct Finding {
    Kind kind = Kind::fault;
    Detail detail = Detail::none;
    std::string what;      // a few words: "write after read"
    std::string kernel;    // "" in host code
    std::string section;   // see begin_section() of simt/check.h
    std::string space;     // "global", "shared", "local", "static" or ""
    std::string variable;  // "shared `partial` (32 bytes, declared at dot.cu:67)"
    Place place;
    Who who;
    bool has_thread = true;  // false where `who` is not known
    bool has_other = false;
    Place other_place;
    Who other;
    Place launched;      // line 0 in host code
    std::string text;    // the report as printed
    std::string fix;     // how it is usually fixed
    std::string lesson;  // that explains it, see explain_findings()
    uint64_t count = 1;  // how often it was seen
};

/// All findings so far, in the order in which they were first seen.
const std::vector<Finding>& findings();

/// What makes two findings the same.
struct FindingKey {
    Kind kind;
    uint64_t first;   // a place
    uint64_t second;  // another
    uint64_t detail;
    bool operator==(const FindingKey&) const = default;
};

/// Counts the finding; if it is new, `make` describes it and it is printed.
void add_finding(const FindingKey& key, const std::function<Finding()>& make);

/// The name that begin_section() has set, or "".
const std::string& current_section();

/// At the program's end: what was found, in a few lines. Returns the exit status that
/// the findings ask for, or 0.
int conclude_findings();

}  // namespace simt::check
