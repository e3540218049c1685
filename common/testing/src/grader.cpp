#include <wb/arguments.h>
#include <wb/exercise.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>
#include <wb/testing/poison_shared.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <optional>

#include "grader_array.h"
#include "launch_watch.h"
#include "meeting.h"
#include "told.h"
#include "words.h"

namespace wb::testing {

namespace {

constexpr int kLate = 16;  // what a stream has to do before its numbers come

}  // namespace

Grader::Grader(std::string implementation, std::string case_text)
    : implementation_(std::move(implementation)), case_(std::move(case_text)) {
    Verdict::instance().grades(implementation_);
    CUDA_CHECK(cudaStreamCreate(&stream_));
    CUDA_CHECK(cudaStreamCreateWithFlags(&other_stream_, cudaStreamNonBlocking));
}

void Grader::is_now(std::string implementation) {
    implementation_ = std::move(implementation);
    Verdict::instance().grades(implementation_);
}

Grader::~Grader() {
    (void)cudaStreamDestroy(stream_);
    (void)cudaStreamDestroy(other_stream_);
}

void Grader::fail(Finding finding) const {
    finding.implementation = implementation_;
    finding.inputs = case_ + circumstance();
    testing::fail(std::move(finding));
}

void* Grader::add(const std::string& name,
                  Role role,
                  const Shape& shape,
                  std::size_t element_bytes,
                  bool is_floating,
                  ReadElement read,
                  const void* values,
                  std::size_t count,
                  Begin begin) {
    // By the case's words, so that the case alone is the same. An array ends where the
    // simulator's memory does: what is to begin elsewhere has something behind it. The
    // checker is to see the true end, and compute-sanitizer, too.
    const bool is_odd =
        begin == Begin::odd_vectors ||
        (begin == Begin::vectors && std::hash<std::string>()(case_) % 2 == 1);
    const bool only_16 = is_odd && canaries_wanted();
    const std::size_t shift = begin == Begin::anywhere ? element_bytes
                              : begin == Begin::pairs  ? 8
                              : only_16                ? 16
                                                       : 0;
    const std::size_t behind = only_16 ? 16 : 0;
    const std::size_t bytes = count * element_bytes;
    std::vector<unsigned char> original(bytes, 0xFF);
    if (values != nullptr && bytes > 0) std::memcpy(original.data(), values, bytes);
    arrays_.push_back(std::unique_ptr<Array>(
        new Array{name,
                  role,
                  shape,
                  element_bytes,
                  is_floating,
                  read,
                  std::move(original),
                  GuardedBuffer(bytes, shift, canaries_wanted(), behind)}));
    Array& array = *arrays_.back();
    array.buffer.upload(array.original.data());
    return array.buffer.data();
}

void Grader::watch(const std::string& name,
                   const void* memory,
                   std::size_t bytes,
                   std::size_t element_bytes) {
    watched_.push_back(
        std::make_unique<Watched>(Watched{name, memory, bytes, element_bytes}));
}

Grader::Array& Grader::find(const std::string& name) const {
    for (const auto& array : arrays_) {
        if (array->name == name) return *array;
    }
    throw std::logic_error("the test has no array named " + name);
}

Observed Grader::observe(const Array& array) const {
    std::vector<unsigned char> bytes(array.original.size());
    array.buffer.download(bytes.data());
    return observe(array, bytes);
}

Observed Grader::observe(const Array& array,
                         const std::vector<unsigned char>& bytes) const {
    const std::size_t count = bytes.size() / array.element_bytes;
    Observed result{
        array.name, array.shape, std::vector<double>(count), std::vector<bool>(count)};
    result.is_floating = array.is_floating;
    for (std::size_t i = 0; i < count; ++i) {
        const unsigned char* element = bytes.data() + i * array.element_bytes;
        result.values[i] = array.read(element);
        result.untouched[i] =
            array.role == Role::output &&
            std::all_of(element,
                        element + array.element_bytes,
                        [](unsigned char byte) { return byte == 0xFF; }) &&
            (array.is_nan_of_ones.empty() || !array.is_nan_of_ones[i]);
    }
    return result;
}

std::vector<double> Grader::read(const std::string& name) const {
    return observe(find(name)).values;
}

void Grader::launch(const Array* zeroed) {
    for (const auto& array : arrays_) {
        array->buffer.poison();
        // An output stays as nobody wrote it, also for the simulator's checker.
        if (array->role != Role::output) array->buffer.upload(array->original.data());
        if (array.get() == zeroed) {
            const std::vector<unsigned char> zeros(array->original.size());
            array->buffer.upload(zeros.data());
        }
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    // Last, for programs that share a GPU take turns, and overwrite what lies there.
    // compute-sanitizer finds uninitialised memory itself, and would watch every store.
    if (canaries_wanted()) poison_shared_memory(stream_);
    const std::clock_t begin = std::clock();
    // In a meeting in turns the numbers come in the order of the stream, the first
    // thread's late: a launcher that waits for the other call's finds none.
    Meeting* const meeting = Meeting::current();
    std::vector<std::unique_ptr<GuardedBuffer>> aside;
    if (meeting && meeting->in_turns()) {
        for (const auto& array : arrays_) {
            aside.push_back(std::make_unique<GuardedBuffer>(array->original.size()));
            aside.back()->upload(array->original.data());
            if (array->role != Role::output) array->buffer.poison();
        }
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    const auto queue_numbers = [&] {
        int late = Meeting::is_first() ? kLate : 0;
        for (std::size_t i = 0; i < aside.size(); ++i) {
            const GuardedBuffer& to = arrays_[i]->buffer;
            if (arrays_[i]->role == Role::output || to.bytes() == 0) continue;
            for (; late > 0; --late)
                CUDA_CHECK(cudaMemsetAsync(to.data(), 0xFF, 1, stream_));
            CUDA_CHECK(cudaMemcpyAsync(to.data(),
                                       aside[i]->data(),
                                       to.bytes(),
                                       cudaMemcpyDeviceToDevice,
                                       stream_));
        }
    };
    if (meeting)
        meeting->at_once(queue_numbers, [this, is_ahead = meeting->is_ahead()] {
            launcher_(stream_);
            if (is_ahead) CUDA_CHECK(cudaStreamSynchronize(stream_));
        });
    else
        launcher_(stream_);
    CUDA_CHECK(cudaDeviceSynchronize());
    launch_seconds_ = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

void Grader::run(const std::function<void(cudaStream_t)>& launcher) {
    run_watched(launcher, false);
}

void Grader::run_and_wait(const std::function<void(cudaStream_t)>& launcher) {
    run_watched(launcher, true);
}

void Grader::run_watched(const std::function<void(cudaStream_t)>& launcher,
                         bool may_wait) {
    std::optional<Finding> broken;
    may_wait_ = may_wait;
    for (const auto& array : arrays_)
        array->other.clear(), array->again.clear(), array->write.reset(),
            array->is_nan_of_ones.clear();
    is_new_run_ = true;
    if (other_numbers_come_first() && canaries_wanted())
        call_with_other_numbers(launcher);
    if (default_streams_come_first() && canaries_wanted())
        call_on_default_streams(launcher);
    launcher_ = [&](cudaStream_t stream) {
        // Whose doing it is cannot be told while others call, too.
        if (Meeting::current()) return launcher(stream);
        std::vector<std::unique_ptr<InputWatch>> inputs;
        for (const auto& array : arrays_) {
            const bool is_input = array->role == Role::input;
            inputs.push_back(std::make_unique<InputWatch>(
                is_input ? array->buffer.data() : nullptr, array->original.size()));
        }
        for (const auto& own : watched_)
            inputs.push_back(std::make_unique<InputWatch>(own->memory, own->bytes));
        LaunchWatch watch(stream);
        launcher(stream);
        watch.stop();
        has_other_streams_ = watch.has_other_streams();
        has_made_objects_ = watch.has_made_objects();
        CUDA_CHECK(cudaDeviceSynchronize());
        for (std::size_t i = 0; i < arrays_.size(); ++i)
            arrays_[i]->write = inputs[i]->end();
        for (std::size_t i = 0; i < watched_.size(); ++i)
            watched_[i]->write = inputs[arrays_.size() + i]->end();
        broken = watch.judge([&] { return has_output(); }, may_wait);
    };
    try {
        launch();
    } catch (const NotSolved& unsolved) {
        fail(finding_of(unsolved));
    } catch (const CudaError& error) {
        fail(finding_of(error));
    } catch (const std::exception& error) {
        Finding threw{Kind::launcher_threw};
        threw.numbers.message = error.what();
        fail(std::move(threw));
    }
    launcher_ = launcher;
    check_memory();
    if (broken) fail(std::move(*broken));
}

bool Grader::has_output() const {
    return std::any_of(arrays_.begin(), arrays_.end(), [this](const auto& array) {
        if (array->role == Role::input) return false;
        std::vector<unsigned char> now(array->original.size());
        array->buffer.download(now.data());
        return now != array->original;
    });
}

void Grader::check_memory() {
    for (const auto& array : arrays_) {
        if (const auto offset = array->buffer.damage()) {
            Finding damaged{Kind::damaged_memory};
            damaged.numbers.array = array->name;
            damaged.numbers.offset = offset;
            fail(std::move(damaged));
        }
        if (array->role != Role::input) continue;
        std::vector<unsigned char> now(array->original.size());
        array->buffer.download(now.data());
        const auto [changed, original] =
            std::mismatch(now.begin(), now.end(), array->original.begin());
        const bool is_changed = changed != now.end();
        if (!is_changed && !array->write) continue;
        const auto offset = is_changed ? changed - now.begin() : array->write->offset;
        Finding input{Kind::changed_input, is_changed ? "" : "put_back"};
        input.numbers.array = array->name;
        input.numbers.index = {offset / static_cast<int64_t>(array->element_bytes)};
        if (is_changed) input.causes = {kCauseChangedInput};
        if (array->write && !array->write->place.file.empty())
            input.places = {array->write->place};
        fail(std::move(input));
    }
    for (const auto& own : watched_) {
        if (!own->write) continue;
        Finding input{Kind::changed_input, "written"};
        input.numbers.array = own->name;
        input.numbers.index = {own->write->offset /
                               static_cast<int64_t>(own->element_bytes)};
        if (!own->write->place.file.empty()) input.places = {own->write->place};
        fail(std::move(input));
    }
}

bool Grader::writes_poison(const Array& array,
                           const std::vector<double>& expected,
                           Observed& got) {
    bool is_some = false;
    for (std::size_t i = 0; i < got.values.size(); ++i)
        is_some = is_some || (got.untouched[i] && std::isnan(expected[i]));
    if (!is_some || Meeting::current()) return false;
    try {
        launch(&array);
    } catch (const std::exception&) {
        return false;  // the first run's result is already being reported
    }
    const Observed again = observe(array);
    bool wrote = false;
    for (std::size_t i = 0; i < got.values.size(); ++i) {
        if (!got.untouched[i] || !std::isnan(again.values[i])) continue;
        array.is_nan_of_ones.resize(got.values.size(), false);
        array.is_nan_of_ones[i] = true;
        got.untouched[i] = false;
        wrote = true;
    }
    return wrote;
}

bool Grader::adds_to_what_was_there(const Array& array,
                                    const std::vector<double>& expected,
                                    const Bound& bound,
                                    Observed& got) {
    const auto some = std::find(got.untouched.begin(), got.untouched.end(), true);
    if (array.role != Role::output || some == got.untouched.end()) return false;
    try {
        launch(&array);
    } catch (const std::exception&) {
        return false;  // the first run's result is already being reported
    }
    const Observed again = observe(array);
    bool added = false;
    for (std::size_t i = 0; i < got.values.size(); ++i) {
        if (!got.untouched[i] || again.values[i] == 0.0) continue;
        got.untouched[i] = false;
        added = true;
    }
    return added && compare(again, expected, bound).passed();
}

bool Grader::changes_from_run_to_run(const Array& array,
                                     const Observed& first,
                                     const Bound& bound) {
    try {
        for (int repeat = 0; repeat < 3; ++repeat) {
            launch();
            const Observed again = observe(array);
            for (std::size_t i = 0; i < first.values.size(); ++i) {
                const double before = first.values[i];
                const double now = again.values[i];
                if (before == now || (std::isnan(before) && std::isnan(now))) continue;
                // Atomics add floats in any order: two sums, both within the bound of
                // the same value, may differ by twice the bound, and that is no race.
                const double allowed = 2.0 * bound(static_cast<std::int64_t>(i));
                if (!(std::abs(now - before) <= allowed)) return true;
            }
        }
    } catch (const std::exception&) {
        return false;  // the first run's result is already being reported
    }
    return false;
}

void Grader::expect(const std::string& name,
                    const std::vector<double>& expected,
                    const Bound& bound) {
    const Array& array = find(name);
    Observed got = observe(array);
    if (got.values.size() != expected.size()) {
        throw std::logic_error("the reference of " + name + " has another size");
    }
    Comparison verdict = compare(got, expected, bound);
    if (!verdict.passed() && writes_poison(array, expected, got))
        verdict = compare(got, expected, bound);
    if (verdict.passed()) {
        expect_again(array, expected, bound);
        SUCCEED();  // counted by Catch2: a test case without a check is no pass
        return;
    }

    // With another call under way, what explains a result is not in this one.
    const bool alone = Meeting::current() == nullptr;
    const bool adds = alone && adds_to_what_was_there(array, expected, bound, got);
    const auto first = static_cast<std::size_t>(verdict.first_wrong);
    Finding wrong{Kind::wrong_result};
    Numbers& n = wrong.numbers;
    n.array = name;
    n.index = coordinates(array.shape, verdict.first_wrong);
    n.expected = expected[first];
    n.untouched = got.untouched[first];
    if (!n.untouched) n.got = got.values[first];
    n.wrong = verdict.wrong;
    n.count = static_cast<std::int64_t>(expected.size());
    n.worst_error = verdict.worst_error;
    n.worst_index = coordinates(array.shape, verdict.worst);
    n.bound = verdict.worst_bound;
    wrong.seen = what_was_seen(got, expected, verdict);
    const std::string cause = !alone ? ""
                              : adds ? kCauseNotZeroed
                              : changes_from_run_to_run(array, got, bound)
                                  ? kCauseRace
                                  : likely_cause(got, expected, verdict);
    if (!cause.empty()) wrong.causes = {cause};
    fail(std::move(wrong));
}

void Grader::expect_no_work(const std::function<void(cudaStream_t)>& launcher) {
    cudaGraph_t graph = nullptr;
    std::size_t nodes = 0;
    try {
        CUDA_CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed));
        launcher(stream_);
        CUDA_CHECK(cudaStreamEndCapture(stream_, &graph));
        CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
        CUDA_CHECK(cudaGraphDestroy(graph));
    } catch (const NotSolved& unsolved) {
        (void)cudaStreamEndCapture(stream_, &graph);
        fail(finding_of(unsolved));
    } catch (const std::exception& error) {
        (void)cudaStreamEndCapture(stream_, &graph);
        Finding failed{Kind::work_for_nothing, "failed"};
        failed.numbers.message = error.what();
        fail(std::move(failed));
    }
    if (nodes != 0) {
        Finding launched{Kind::work_for_nothing, "launched"};
        launched.numbers.measured = static_cast<double>(nodes);
        fail(std::move(launched));
    }
    SUCCEED();
}

void Grader::expect_queued(const std::function<void(cudaStream_t)>& launcher) {
    cudaGraph_t graph = nullptr;
    std::size_t nodes = 0;
    Finding broken{Kind::contract};
    for (const auto& array : arrays_) {
        array->buffer.poison();
        if (array->role != Role::output) array->buffer.upload(array->original.data());
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    // A stream that is being captured writes down what it is given, and refuses to be
    // waited for; so does the default stream.
    CUDA_CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed));
    try {
        launcher(stream_);
    } catch (const NotSolved& unsolved) {
        (void)cudaStreamEndCapture(stream_, &graph);
        testing::fail(unsolved);
    } catch (const CudaError& error) {
        broken.what = error.what();
        // Any other error is no matter of streams: a launch that no GPU can do.
        const std::string name = cudaGetErrorName(error.code());
        if (!name.starts_with("cudaErrorStreamCapture")) broken = finding_of(error);
    } catch (const std::exception& error) {
        broken = Finding{Kind::launcher_threw};
        broken.numbers.message = error.what();
    }
    const cudaError_t captured = cudaStreamEndCapture(stream_, &graph);
    if (captured == cudaSuccess) {
        CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
        CUDA_CHECK(cudaGraphDestroy(graph));
    } else if (broken.what.empty()) {
        broken.what = cudaGetErrorName(captured);
    }
    (void)cudaGetLastError();
    CUDA_CHECK(cudaDeviceSynchronize());
    if (broken.kind != Kind::contract) fail(std::move(broken));
    if (broken.what.empty() && nodes == 0) broken.what = "nothing is on it";
    for (const auto& array : arrays_) {
        if (array->role != Role::output || !broken.what.empty()) continue;
        const Observed now = observe(*array);
        if (!std::all_of(now.untouched.begin(), now.untouched.end(), std::identity()))
            broken.what = array->name + " was written before the stream ran";
    }
    if (broken.what.empty()) {
        SUCCEED();
        return;
    }
    broken.what =
        "queue all work on the given stream, and wait for nothing: " + broken.what;
    fail(std::move(broken));
}

void expect_refused(const std::string& implementation,
                    const std::string& what,
                    const std::string& part,
                    const std::function<void()>& call) {
    Verdict::instance().grades(implementation);
    Finding wrong{Kind::not_refused, "nothing_thrown"};
    wrong.implementation = implementation;
    wrong.inputs = what;
    wrong.numbers.wanted = part;
    LaunchWatch watch(nullptr);
    try {
        call();
    } catch (const InvalidArgument& refusal) {
        watch.stop();
        const bool is_named =
            std::string(refusal.what()).find(part) != std::string::npos;
        if (is_named && watch.operations() == 0) {
            SUCCEED();
            return;
        }
        wrong.detail = is_named ? "too_late" : "other_words";
        wrong.numbers.message = refusal.what();
    } catch (const NotSolved& unsolved) {
        Finding finding = finding_of(unsolved);
        finding.implementation = implementation;
        fail(std::move(finding));
    } catch (const std::exception& other) {
        wrong.detail = "other_exception";
        wrong.numbers.message = other.what();
    }
    fail(std::move(wrong));
}

}  // namespace wb::testing
