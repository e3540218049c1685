// Launchers that are right the first time, but not the next: they have kept something,
// belong to a thread or to a stream, or do not keep to the order of their stream.
#include <wb/testing/grader.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <exception>
#include <map>
#include <thread>

#include "grader_array.h"
#include "meeting.h"
#ifdef SIMT_CPU
#include <simt/streams.h>
#endif

namespace wb::testing {
namespace {

constexpr std::size_t kSmall = 256 * 1024;  // bytes of all arrays: soon done again
#ifdef SIMT_CPU
constexpr double kShort = 1.5e-3;  // seconds; what takes longer only on request
constexpr double kShortWithWaiting = 20e-3;  // few launchers may wait
constexpr double kWithOtherStreams = 0.3;    // few have streams of their own
#else
constexpr double kShort = 1.0;  // the first launch of a kernel brings it to the GPU
constexpr double kShortWithWaiting = kShort;
constexpr double kWithOtherStreams = kShort;
#endif
constexpr std::chrono::seconds kPatience{2};

/// Work that is not done before the host says so.
struct Gate {
    std::atomic<bool> is_open{false};
    std::atomic<bool> was_forced{false};

    static void wait(void* self) {
        auto& gate = *static_cast<Gate*>(self);
        const auto begin = std::chrono::steady_clock::now();
        while (!gate.is_open) {
            if (std::chrono::steady_clock::now() - begin > kPatience) {
                gate.was_forced = true;
                return;
            }
            std::this_thread::yield();
        }
    }
};

/// Calls here, or from another host thread; gives what was thrown, or left behind.
std::string errors_of(bool other_thread, const std::function<void()>& call) {
    std::string error;
    int device = 0;  // a thread begins with number 0
    CUDA_CHECK(cudaGetDevice(&device));
    const auto watched = [&] {
        try {
            CUDA_CHECK(cudaSetDevice(device));
            call();
            const cudaError_t left = cudaGetLastError();
            if (left != cudaSuccess) error = cudaGetErrorName(left);
        } catch (const std::exception& thrown) {
            error = thrown.what();
        }
    };
    if (other_thread)
        std::thread(watched).join();
    else
        watched();
    return error;
}

/// How often each implementation was graded.
std::map<std::string, unsigned>& gradings() {
    static std::map<std::string, unsigned> gradings;
    return gradings;
}

std::vector<unsigned char> reversed(const std::vector<unsigned char>& bytes,
                                    std::size_t element_bytes) {
    std::vector<unsigned char> result(bytes.size());
    for (std::size_t at = 0; at + element_bytes <= bytes.size(); at += element_bytes)
        std::copy_n(bytes.end() - static_cast<std::ptrdiff_t>(at + element_bytes),
                    element_bytes,
                    result.begin() + static_cast<std::ptrdiff_t>(at));
    return result;
}

}  // namespace

void forget_gradings() {
    gradings().clear();
}

bool Grader::is_to_be_called_again() const {
    // Checked programs count what a launch does, and take long.
    if (!canaries_wanted() || StreamOrder::is_chosen() || Meeting::current())
        return false;
    std::size_t bytes = 0;
    for (const auto& array : arrays_)
        bytes += array->original.size();
    if (bytes > kSmall) return false;
    if (calls_are_made_again()) return true;
    // Does the given stream wait for the others? It shows in no single call.
    if (has_other_streams_ && launch_seconds_ < kWithOtherStreams) return true;
    if (launch_seconds_ > (may_wait_ ? kShortWithWaiting : kShort)) return false;
    // The 1st, 4th, 16th ... time.
    const unsigned count = ++gradings()[implementation_];
    const int bits = std::bit_width(count);
    return bits % 2 == 1 && count == 1u << (bits - 1);
}

void Grader::set_arrays(bool other_contents) {
    for (const auto& array : arrays_) {
        array->buffer.poison();
        if (array->role == Role::output) continue;
        const bool turn = other_contents && array->is_floating;
        array->buffer.upload(
            turn ? reversed(array->original, array->element_bytes).data()
                 : array->original.data());
    }
    CUDA_CHECK(cudaDeviceSynchronize());
}

void Grader::call_with_other_numbers(
    const std::function<void(cudaStream_t)>& launcher) {
    set_arrays(true);
    errors_of(false, [&] {
        launcher(stream_);
        CUDA_CHECK(cudaDeviceSynchronize());
    });
}

void Grader::call_on_default_streams(
    const std::function<void(cudaStream_t)>& launcher) {
    const auto error_on = [&](cudaStream_t stream) {
        set_arrays(false);
        return errors_of(false, [&] {
            launcher(stream);
            CUDA_CHECK(cudaDeviceSynchronize());
        });
    };
    if (!error_on(stream_).empty()) return;  // what follows says so
    const bool writes = has_output();
    const cudaStream_t streams[] = {nullptr, cudaStreamLegacy, cudaStreamPerThread};
    for (const cudaStream_t stream : streams) {
        std::string error = error_on(stream);
        if (error.empty() && writes && !has_output()) error = "nothing is written";
        if (error.empty()) continue;
        Finding refused{Kind::contract, "default_stream_refused"};
        refused.what = "on a default stream: " + error;
        refused.advice =
            "a default stream is a stream as any other, and nullptr is the name of one";
        fail(std::move(refused));
    }
}

void Grader::expect_no_objects_kept() {
#ifdef SIMT_CPU
    long kept = 1;
    for (int call = 0; call < 2 && kept > 0; ++call) {
        set_arrays(false);
        const unsigned long before = simt::objects().alive;
        errors_of(false, [&] {
            launcher_(stream_);
            CUDA_CHECK(cudaDeviceSynchronize());
        });
        kept = static_cast<long>(simt::objects().alive - before);
    }
    for (const auto& array : arrays_)
        array->buffer.upload(array->first.data());
    if (kept <= 0) return;
    Finding keeps{Kind::contract, "keeps_objects"};
    keeps.what = "each call leaves " + std::to_string(kept) +
                 " behind of what it has made: streams, events, graphs, handles";
    keeps.advice =
        "what a call creates, it destroys; or it is made once, for all calls";
    fail(std::move(keeps));
#endif
}

bool Grader::ignores_contents(const Array& array) {
    if (array.role != Role::output || array.first.empty() || array.first != array.other)
        return false;
    // Numbers that are all the same may well be the same for other inputs, and so may
    // NaN and infinities beside them: a row without keys, and one that sees a NaN.
    const std::vector<double> values = observe(array, array.first).values;
    const double* one = nullptr;
    bool are_several = false;
    for (const double& value : values) {
        if (!std::isfinite(value)) continue;
        are_several = are_several || (one != nullptr && value != *one);
        one = &value;
    }
    if (!are_several) return false;
    // So may a sum, whatever order its terms are in. But not of what is no number.
    bool has_numbers = false;
    for (const auto& each : arrays_) {
        each->buffer.poison();
        if (each->role == Role::output) continue;
        has_numbers = has_numbers || each->is_floating;
        if (!each->is_floating) each->buffer.upload(each->original.data());
    }
    CUDA_CHECK(cudaDeviceSynchronize());  // our streams do not wait for these
    std::vector<unsigned char> now(array.first.size());
    const std::string error = errors_of(false, [&] {
        if (has_numbers) launcher_(other_stream_);
        CUDA_CHECK(cudaDeviceSynchronize());
        array.buffer.download(now.data());
    });
    for (const auto& each : arrays_)
        each->buffer.upload(each->first.data());
    return error.empty() && has_numbers && now == array.first;
}

std::optional<Finding> Grader::call_again(const Again& how) {
    const cudaStream_t stream = how.other_stream ? other_stream_ : stream_;
    for (const auto& array : arrays_) {
        array->first.resize(array->original.size());
        array->buffer.download(array->first.data());
    }
    std::optional<Finding> broken;
    if (how.other_contents) {
        set_arrays(true);
        const std::string error = errors_of(false, [&] {
            launcher_(stream);
            CUDA_CHECK(cudaDeviceSynchronize());
        });
        if (!error.empty()) {
            broken = Finding{Kind::contract, "other_contents"};
            broken->numbers.message = error;
        }
        for (const auto& array : arrays_) {
            array->other.resize(array->original.size());
            array->buffer.download(array->other.data());
        }
    }
    if (!broken) broken = call_queued(how, stream);
    for (const auto& array : arrays_)
        array->buffer.upload(array->first.data());
    errors_of(false, [] { CUDA_CHECK(cudaDeviceSynchronize()); });
    return broken;
}

std::optional<Finding> Grader::call_queued(const Again& how, cudaStream_t stream) {
    // Nothing runs in the simulator before the host waits, and then only what the
    // stream needs.
    std::optional<StreamOrder> late;
    Gate gate;
    std::vector<std::unique_ptr<GuardedBuffer>> aside;
    for (const auto& array : arrays_) {
        aside.push_back(std::make_unique<GuardedBuffer>(array->original.size()));
        aside.back()->upload(array->original.data());
    }
    // On a GPU both the poison and the numbers may still be on their way, and our
    // streams do not wait for the default one.
    CUDA_CHECK(cudaDeviceSynchronize());
    const auto queue = [&](auto&& operation) {
        for (std::size_t i = 0; i < arrays_.size(); ++i) {
            GuardedBuffer& buffer = arrays_[i]->buffer;
            if (buffer.bytes() > 0) operation(arrays_[i]->role, buffer, *aside[i]);
        }
    };
    if (!how.queued || !how.other_contents) set_arrays(false);
    if (how.queued) {
        late.emplace(2);
        if (!may_wait_) CUDA_CHECK(cudaLaunchHostFunc(stream, Gate::wait, &gate));
        queue([&](Role role, GuardedBuffer& buffer, GuardedBuffer& kept) {
            if (role == Role::output)
                CUDA_CHECK(
                    cudaMemsetAsync(buffer.data(), 0xFF, buffer.bytes(), stream));
            else
                CUDA_CHECK(cudaMemcpyAsync(buffer.data(),
                                           kept.data(),
                                           buffer.bytes(),
                                           cudaMemcpyDeviceToDevice,
                                           stream));
        });
    }
    std::string error = errors_of(how.other_thread, [&] { launcher_(stream); });
    const bool waited = gate.was_forced;
    gate.is_open = true;
    if (how.queued) {
        queue([&](Role, GuardedBuffer& buffer, GuardedBuffer& kept) {
            CUDA_CHECK(cudaMemcpyAsync(kept.data(),
                                       buffer.data(),
                                       buffer.bytes(),
                                       cudaMemcpyDeviceToDevice,
                                       stream));
            CUDA_CHECK(cudaMemsetAsync(buffer.data(), 0xFF, buffer.bytes(), stream));
        });
    }
    const std::string late_error =
        errors_of(false, [&] { CUDA_CHECK(cudaStreamSynchronize(stream)); });
    if (error.empty()) error = late_error;
    for (std::size_t i = 0; i < arrays_.size() && error.empty(); ++i) {
        arrays_[i]->again.resize(arrays_[i]->original.size());
        const GuardedBuffer& result = how.queued ? *aside[i] : arrays_[i]->buffer;
        result.download(arrays_[i]->again.data());
    }
    const std::string last_error =
        errors_of(false, [] { CUDA_CHECK(cudaDeviceSynchronize()); });
    if (error.empty()) error = last_error;
    if (error.empty() && !waited) return std::nullopt;
    Finding broken{Kind::contract, error.empty() ? "waits" : how.detail};
    if (error.empty())
        broken.what =
            "it must return without waiting, but it did not return before the work "
            "that "
            "was in front of it on its stream had been done";
    else
        broken.numbers.message = error;
    return broken;
}

void Grader::expect_again(const Array& array,
                          const std::vector<double>& expected,
                          const Bound& bound) {
    if (is_new_run_ && is_to_be_called_again()) {
        is_new_run_ = false;
        auto broken = call_again({"called_again", true, true, true, true});
        // After a fault every call fails.
        if (broken && broken->detail != "waits" &&
            cudaDeviceSynchronize() == cudaSuccess)
            broken = what_differs(array, expected, bound);
        if (broken) fail(std::move(*broken));
        check_memory();
        if (has_made_objects_) expect_no_objects_kept();
    }
    is_new_run_ = false;
    if (array.again.empty()) return;
    if (!compare(observe(array, array.again), expected, bound).passed())
        fail(what_differs(array, expected, bound));
    if (ignores_contents(array)) {
        Finding same{Kind::contract, "same_result"};
        same.numbers.array = array.name;
        fail(std::move(same));
    }
}

Finding Grader::what_differs(const Array& array,
                             const std::vector<double>& expected,
                             const Bound& bound) {
    const Again fewest[] = {{"again", false, false, false, false},
                            {"other_contents", true, false, false, false},
                            {"other_stream", false, true, false, false},
                            {"other_thread", false, false, true, false},
                            {"queued", true, true, false, true}};
    Finding found{Kind::contract, "called_again"};
    Observed got = observe(array, array.again);
    for (const Again& how : fewest) {
        if (auto broken = call_again(how)) return std::move(*broken);
        Observed now = observe(array, array.again);
        if (compare(now, expected, bound).passed()) continue;
        found.detail = how.detail;
        got = std::move(now);
        break;
    }
    const Comparison verdict = compare(got, expected, bound);
    const auto at = static_cast<std::size_t>(verdict.first_wrong);
    Numbers& n = found.numbers;
    n.array = array.name;
    n.index = coordinates(array.shape, verdict.first_wrong);
    n.expected = expected[at];
    n.untouched = got.untouched[at];
    if (!n.untouched) n.got = got.values[at];
    n.wrong = verdict.wrong;
    n.count = static_cast<std::int64_t>(expected.size());
    return found;
}

}  // namespace wb::testing
