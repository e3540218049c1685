#include <wb/arguments.h>
#include <wb/exercise.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/poison_shared.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace wb::testing {

struct Grader::Array {
    std::string name;
    Role role;
    Shape shape;
    std::size_t element_bytes;
    ReadElement read;
    std::vector<unsigned char> original;  // what is there before each launch
    GuardedBuffer buffer;
};

namespace {

/// Prints the report, line by line behind "wb| ", and leaves the test case.
[[noreturn]] void report(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines)
        text += "wb| " + line + "\n";
    std::fflush(stderr);
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    FAIL(lines.front());
    throw 0;  // unreachable: FAIL throws, but its declaration does not say so
}

std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

/// What a CUDA error code usually means for a beginner's kernel.
std::string error_hint(cudaError_t code) {
    switch (code) {
        case cudaErrorInvalidConfiguration:
            return "likely cause: a grid of zero blocks, or more than 1024 threads in "
                   "a "
                   "block";
        case cudaErrorIllegalAddress:
            return "likely cause: an index outside an array (is the guard there?), or "
                   "a "
                   "host pointer given to a kernel";
        case cudaErrorMisalignedAddress:
            return "likely cause: a vector load (float4) from an address that is not a "
                   "multiple of its size";
        case cudaErrorLaunchTimeout:
            return "likely cause: a loop that never ends, or threads that wait for "
                   "something that nobody will do";
        case cudaErrorInvalidValue:
            return "likely cause: a grid of zero blocks, more than 1024 threads in a "
                   "block, too much shared memory, or a wrong pointer or size in a "
                   "CUDA "
                   "call";
        default:
            return "";
    }
}

}  // namespace

Grader::Grader(std::string implementation, std::string case_text)
    : implementation_(std::move(implementation)), case_(std::move(case_text)) {
    CUDA_CHECK(cudaStreamCreate(&stream_));
}

Grader::~Grader() {
    (void)cudaStreamDestroy(stream_);
}

void Grader::fail(const std::vector<std::string>& lines) {
    std::vector<std::string> all = {implementation_ + ", " + case_};
    for (const std::string& line : lines) {
        if (!line.empty()) all.push_back("  " + line);
    }
    report(all);
}

void* Grader::add(const std::string& name,
                  Role role,
                  const Shape& shape,
                  std::size_t element_bytes,
                  ReadElement read,
                  const void* values,
                  std::size_t count) {
    const std::size_t bytes = count * element_bytes;
    std::vector<unsigned char> original(bytes, 0xFF);
    if (values != nullptr && bytes > 0) std::memcpy(original.data(), values, bytes);
    arrays_.push_back(std::unique_ptr<Array>(new Array{name,
                                                       role,
                                                       shape,
                                                       element_bytes,
                                                       read,
                                                       std::move(original),
                                                       GuardedBuffer(bytes)}));
    Array& array = *arrays_.back();
    array.buffer.upload(array.original.data());
    return array.buffer.data();
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
    const std::size_t count = bytes.size() / array.element_bytes;
    Observed result{
        array.name, array.shape, std::vector<double>(count), std::vector<bool>(count)};
    for (std::size_t i = 0; i < count; ++i) {
        const unsigned char* element = bytes.data() + i * array.element_bytes;
        result.values[i] = array.read(element);
        result.untouched[i] =
            array.role == Role::output &&
            std::all_of(element, element + array.element_bytes, [](unsigned char byte) {
                return byte == 0xFF;
            });
    }
    return result;
}

std::vector<double> Grader::read(const std::string& name) const {
    return observe(find(name)).values;
}

void Grader::launch() {
    for (const auto& array : arrays_) {
        array->buffer.poison();
        // An output stays as nobody wrote it, also for the simulator's checker.
        if (array->role != Role::output) array->buffer.upload(array->original.data());
    }
    // compute-sanitizer finds uninitialised memory itself, and would watch every store.
    if (canaries_wanted()) poison_shared_memory(stream_);
    CUDA_CHECK(cudaDeviceSynchronize());
    launcher_(stream_);
    CUDA_CHECK(cudaDeviceSynchronize());
}

void Grader::run(const std::function<void(cudaStream_t)>& launcher) {
    launcher_ = launcher;
    try {
        launch();
    } catch (const NotSolved& unsolved) {
        report({unsolved.what()});
    } catch (const CudaError& error) {
        fail({error.what(), error_hint(error.code())});
    } catch (const std::exception& error) {
        fail({"the launcher threw: " + std::string(error.what())});
    }
    check_memory();
}

void Grader::check_memory() {
    for (const auto& array : arrays_) {
        const std::string damage = array->buffer.damage();
        if (!damage.empty()) fail({array->name + " " + damage});
        if (array->role != Role::input) continue;
        std::vector<unsigned char> now(array->original.size());
        array->buffer.download(now.data());
        const auto [changed, original] =
            std::mismatch(now.begin(), now.end(), array->original.begin());
        if (changed == now.end()) continue;
        const auto index =
            (changed - now.begin()) / static_cast<std::ptrdiff_t>(array->element_bytes);
        fail({"the input " + array->name + " was changed, first at " + array->name +
                  "[" + std::to_string(index) + "]",
              "likely cause: input and output exchanged, or a store through the wrong "
              "pointer"});
    }
}

bool Grader::changes_from_run_to_run(const Array& array, const Bound& bound) {
    const Observed first = observe(array);
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
    const Observed got = observe(array);
    if (got.values.size() != expected.size()) {
        throw std::logic_error("the reference of " + name + " has another size");
    }
    const Comparison verdict = compare(got, expected, bound);
    if (verdict.passed()) {
        SUCCEED();  // counted by Catch2: a test case without a check is no pass
        return;
    }

    const auto first = static_cast<std::size_t>(verdict.first_wrong);
    const std::string where = coordinates(name, array.shape, verdict.first_wrong);
    const std::string value = got.untouched[first]
                                  ? "nothing: the element was never written"
                                  : number(got.values[first]);
    const std::string cause =
        changes_from_run_to_run(array, bound)
            ? "a race: the same launch gave another result when it was repeated"
            : likely_cause(got, expected, verdict);
    fail({name + " is wrong in " + std::to_string(verdict.wrong) + " of " +
              std::to_string(expected.size()) + " elements; the first is " + where,
          "expected " + number(expected[first]) + ", got " + value,
          "worst error " + number(verdict.worst_error) + " at " +
              coordinates(name, array.shape, verdict.worst) + ", where " +
              number(verdict.worst_bound) + " is allowed",
          cause.empty() ? "" : "likely cause: " + cause});
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
        report({unsolved.what()});
    } catch (const std::exception& error) {
        (void)cudaStreamEndCapture(stream_, &graph);
        fail(
            {"zero-size work is legal, but this failed: " + std::string(error.what())});
    }
    if (nodes != 0) {
        fail({"zero-size work must launch nothing, but " + std::to_string(nodes) +
              " operations were put onto the stream"});
    }
    SUCCEED();
}

void expect_refused(const std::string& implementation,
                    const std::string& what,
                    const std::string& part,
                    const std::function<void()>& call) {
    std::string instead = "nothing was thrown";
    try {
        call();
    } catch (const InvalidArgument& refusal) {
        if (std::string(refusal.what()).find(part) != std::string::npos) {
            SUCCEED();
            return;
        }
        instead = "the message does not say `" + part + "`: " + refusal.what();
    } catch (const NotSolved& unsolved) {
        report({unsolved.what()});
    } catch (const std::exception& other) {
        instead = "another exception came: " + std::string(other.what());
    }
    report({implementation + ", " + what,
            "  a wrong argument must throw wb::InvalidArgument, but " + instead});
}

}  // namespace wb::testing
