// What makes a recorded trace short enough to look at.

#include <algorithm>
#include <map>
#include <utility>

#include "steps.h"

namespace simt::check {
namespace {

// A loop is shown going round so often at first, and once at the end.
constexpr size_t kShownFirst = 3;
constexpr size_t kShownLast = 1;
constexpr size_t kLeastFolded = 4;
constexpr size_t kLongestPeriod = 64;

uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

uint64_t token_of(const Trace& trace, const Step& step) {
    uint64_t hash = mix(0, static_cast<uint64_t>(step.warp + 1));
    hash = mix(hash, static_cast<uint64_t>(step.doing));
    hash = mix(hash, static_cast<uint64_t>(step.space));
    hash = mix(hash, uint64_t{step.place} << 32 | step.bytes);
    hash = mix(hash, lanes_of(trace.patterns[step.pattern]));
    return mix(hash, static_cast<uint64_t>(step.finding + 1));
}

bool writes_shared(const Step& step) {
    return step.space == Space::shared &&
           (step.doing == Doing::store || step.doing == Doing::atomic ||
            step.doing == Doing::landed);
}

/// A cp.async to shared memory that has not landed.
bool sends_to_shared(const Step& step) {
    return step.space == Space::shared && step.doing == Doing::copy;
}

/// Other warps wait for these; a fold of one warp's steps does not contain any.
bool concerns_others(const Step& step) {
    switch (step.doing) {
        case Doing::release:
        case Doing::acquire:
        case Doing::tile:
        case Doing::tile_landed:
        case Doing::barrier:
        case Doing::folded:
            return true;
        default:
            return false;
    }
}

/// Drops a warp's entries into basic blocks that say nothing new: between two others
/// with the same lanes, or at the line of the step before or after it.
void drop_idle(Trace& trace) {
    const auto lanes = [&](const Step& step) {
        return lanes_of(trace.patterns[step.pattern]);
    };
    std::map<int, std::vector<size_t>> of_warp;
    std::vector<bool> idle(trace.steps.size());
    for (size_t i = 0; i < trace.steps.size(); ++i)
        of_warp[trace.steps[i].warp].push_back(i);
    for (const auto& entry : of_warp) {
        const std::vector<size_t>& list = entry.second;
        const Step* before = nullptr;  // that is kept
        for (size_t k = 0; k < list.size(); ++k) {
            const Step& step = trace.steps[list[k]];
            const Step* after =
                k + 1 < list.size() ? &trace.steps[list[k + 1]] : nullptr;
            const auto same_lanes = [&](const Step* other) {
                return other && lanes(*other) == lanes(step);
            };
            const auto same_line = [&](const Step* other) {
                return same_lanes(other) && other->place == step.place;
            };
            const bool between = same_lanes(before) && before->doing == Doing::at &&
                                 same_lanes(after) && after->doing == Doing::at;
            if (step.doing == Doing::at &&
                (same_line(before) || same_line(after) || between))
                idle[list[k]] = true;
            else
                before = &step;
        }
    }
    std::vector<Step> kept;
    for (size_t i = 0; i < trace.steps.size(); ++i)
        if (!idle[i]) kept.push_back(trace.steps[i]);
    trace.steps = std::move(kept);
}

/// The step that stands for steps [first, last) of `list`.
Step fold(Trace& trace, const std::vector<Step>& left_out, size_t times, int warp) {
    Fold result;
    result.times = static_cast<uint32_t>(times);
    result.steps = static_cast<uint32_t>(left_out.size());
    std::map<std::pair<uint32_t, int64_t>, size_t> last;
    for (size_t i = 0; i < left_out.size(); ++i) {
        const Step& step = left_out[i];
        if (std::find(result.places.begin(), result.places.end(), step.place) ==
            result.places.end())
            result.places.push_back(step.place);
        if (writes_shared(step) || sends_to_shared(step))
            last[{step.pattern, step.base}] = i;
    }
    std::vector<size_t> writes;
    for (const auto& entry : last)
        writes.push_back(entry.second);
    std::sort(writes.begin(), writes.end());
    for (const size_t i : writes) {
        const Step& step = left_out[i];
        result.writes.push_back({sends_to_shared(step) ? kNobody : step.warp,
                                 int64_t{step.pattern},
                                 step.base,
                                 int64_t{step.bytes}});
    }
    Step stands = left_out.front();
    stands.warp = warp;
    stands.doing = Doing::folded;
    stands.pattern = 0;
    stands.object = 0;
    stands.finding = -1;
    stands.cost = stands.ideal = 0;
    stands.base = static_cast<int64_t>(trace.folds.size());
    trace.folds.push_back(std::move(result));
    return stands;
}

/// Folds what repeats among `elements`, lists of steps in the order of time.
/// @param warp  whose steps they are
std::vector<Step> fold_elements(Trace& trace,
                                const std::vector<std::vector<Step>>& elements,
                                const std::vector<uint64_t>& tokens,
                                int warp) {
    std::vector<Step> result;
    size_t next = 0;
    const auto keep_until = [&](size_t end) {
        for (; next < end; ++next)
            result.insert(result.end(), elements[next].begin(), elements[next].end());
    };
    for (const Run& run : runs_of(tokens, kShownFirst + kLeastFolded + kShownLast)) {
        const size_t times = run.times - kShownFirst - kShownLast;
        keep_until(run.first + kShownFirst * run.period);
        std::vector<Step> left_out;
        for (const size_t end = next + times * run.period; next < end; ++next)
            left_out.insert(
                left_out.end(), elements[next].begin(), elements[next].end());
        result.push_back(fold(trace, left_out, times, warp));
    }
    keep_until(elements.size());
    return result;
}

/// Folds loops that contain barriers of the block: what all warps do between two
/// barriers is one element.
void fold_between_barriers(Trace& trace) {
    std::vector<std::vector<Step>> elements(1);
    for (const Step& step : trace.steps) {
        elements.back().push_back(step);
        if (step.doing == Doing::barrier) elements.emplace_back();
    }
    if (elements.back().empty()) elements.pop_back();
    std::vector<uint64_t> tokens;
    for (const auto& element : elements) {
        // The warps may have taken turns in another way.
        std::map<int, uint64_t> of_warp;
        for (const Step& step : element)
            of_warp[step.warp] = mix(of_warp[step.warp], token_of(trace, step));
        uint64_t token = 0;
        for (const auto& [warp, hash] : of_warp)
            token = mix(token, hash);
        tokens.push_back(token);
    }
    trace.steps = fold_elements(trace, elements, tokens, kNobody);
}

/// Folds the loops of each warp.
void fold_warps(Trace& trace) {
    std::map<int, std::vector<std::vector<Step>>> of_warp;
    std::map<int, std::vector<uint64_t>> tokens;
    uint64_t unique = 0;
    for (const Step& step : trace.steps) {
        of_warp[step.warp].push_back({step});
        // Barriers come between the steps of every warp.
        const uint64_t token =
            concerns_others(step) ? mix(++unique, 1) : token_of(trace, step);
        tokens[step.warp].push_back(token);
    }
    std::vector<Step> all;
    for (const auto& [warp, elements] : of_warp) {
        const auto folded = fold_elements(trace, elements, tokens[warp], warp);
        all.insert(all.end(), folded.begin(), folded.end());
    }
    trace.steps = std::move(all);
}

void sort_by_time(Trace& trace) {
    std::stable_sort(trace.steps.begin(),
                     trace.steps.end(),
                     [](const Step& a, const Step& b) { return a.time < b.time; });
}

}  // namespace

Pattern pattern_of(uint32_t mask, const uintptr_t* address) {
    if (!address || mask == 0) return {mask, 0};
    const int first = __builtin_ctz(mask);
    Pattern distances{mask};
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
        distances.push_back(
            static_cast<int64_t>(address[__builtin_ctz(rest)] - address[first]));
    const uint32_t others = mask & (mask - 1);
    if (others == 0) return {mask, 0};
    const int second = __builtin_ctz(others);
    const int64_t stride = distances[2] / (second - first);
    size_t i = 1;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
        if (distances[i++] != (__builtin_ctz(rest) - first) * stride) return distances;
    return {mask, stride};
}

std::vector<Run> runs_of(const std::vector<uint64_t>& tokens, size_t least) {
    std::vector<Run> runs;
    for (size_t i = 0; i < tokens.size();) {
        Run best{i, 1, 1};
        for (size_t period = 1; period <= kLongestPeriod; ++period) {
            if (i + least * period > tokens.size()) break;
            size_t equal = 0;
            while (i + period + equal < tokens.size() &&
                   tokens[i + equal] == tokens[i + period + equal])
                ++equal;
            const size_t times = equal / period + 1;
            if (times >= least && times * period > best.times * best.period)
                best = {i, period, times};
        }
        if (best.times >= least) runs.push_back(best);
        i += best.times >= least ? best.times * best.period : 1;
    }
    return runs;
}

size_t tidy(Trace& trace, size_t most) {
    sort_by_time(trace);
    drop_idle(trace);
    fold_between_barriers(trace);
    fold_warps(trace);
    sort_by_time(trace);
    if (trace.steps.size() <= most) return 0;
    const size_t cut = trace.steps.size() - most;
    trace.steps.resize(most);
    return cut;
}

}  // namespace simt::check
