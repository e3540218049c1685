/// wb/testing/grader.h: one launch of one implementation, judged and explained.
///
///     Grader grade("vector_add_v1", "n = 33, seed 1");
///     const float* d_a = grade.input("a", a);
///     float* d_c = grade.output<float>("c", {n});
///     grade.run([&](cudaStream_t stream) { vector_add(d_a, d_b, d_c, n, stream); });
///     grade.expect("c", expected, [&](int64_t i) { return bound; });
///
/// A failure is a finding of the program's verdict (verdict.h), is printed in the
/// learner's words behind "wb| ", and ends the Catch2 test case.
#pragma once

#include <cuda_runtime.h>
#include <wb/errors.h>
#include <wb/implementations.h>
#include <wb/testing/compare.h>
#include <wb/testing/guarded_buffer.h>
#include <wb/testing/verdict.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace wb::testing {

/// Where an array begins: at an address that suits any type; at one that suits only its
/// own elements, as what a contract does not say to be aligned; `pairs`, at a multiple
/// of 8 bytes that is none of 16, for what are pairs of four bytes; or, `vectors`, at a
/// multiple of 16 bytes that in half of the cases is none of 32, for what a contract
/// says to be 16-byte aligned; `odd_vectors`, in all cases.
enum class Begin { aligned, anywhere, pairs, vectors, odd_vectors };

/// Turns raw bytes of an output into doubles.
using ReadElement = double (*)(const unsigned char* element);

/// Owns the buffers of one test case. Not copyable; build one per launch.
class Grader {
 public:
    /// @param implementation  what is tested: the contract's function or a rung
    /// @param case_text       sizes and seed, so that the case can be repeated
    Grader(std::string implementation, std::string case_text);
    ~Grader();
    /// The launches that follow are of another implementation, with the same arrays.
    void is_now(std::string implementation);
    Grader(const Grader&) = delete;
    Grader& operator=(const Grader&) = delete;

    /// Device memory with these values, which the kernel must not change.
    template <class T>
    const T* input(const std::string& name,
                   const std::vector<T>& values,
                   Begin begin = Begin::aligned) {
        return static_cast<const T*>(add(name,
                                         Role::input,
                                         {},
                                         sizeof(T),
                                         is_floating<T>,
                                         nullptr,
                                         values.data(),
                                         values.size(),
                                         begin));
    }

    /// Poisoned device memory that the kernel must fill.
    template <class T>
    T* output(const std::string& name,
              const Shape& shape,
              Begin begin = Begin::aligned) {
        return static_cast<T*>(add(name,
                                   Role::output,
                                   shape,
                                   sizeof(T),
                                   is_floating<T>,
                                   read_element<T>,
                                   nullptr,
                                   static_cast<std::size_t>(elements(shape)),
                                   begin));
    }

    /// Device memory with these values, which the kernel updates in place.
    template <class T>
    T* in_out(const std::string& name,
              const Shape& shape,
              const std::vector<T>& values,
              Begin begin = Begin::aligned) {
        return static_cast<T*>(add(name,
                                   Role::in_out,
                                   shape,
                                   sizeof(T),
                                   is_floating<T>,
                                   read_element<T>,
                                   values.data(),
                                   values.size(),
                                   begin));
    }

    /// Device memory that a test has itself, and that the launchers must not write to:
    /// what is too large for input(). In the simulator, any write is found; on a GPU,
    /// none is.
    template <class T>
    void only_read(const std::string& name, const T* memory, std::int64_t count) {
        watch(name, memory, static_cast<std::size_t>(count) * sizeof(T), sizeof(T));
    }

    /// Calls the launcher on a stream of its own, waits, and checks for errors,
    /// damaged canaries, changed inputs, and what every launcher promises: its work is
    /// on that stream, it does not wait, it keeps no memory. Fails the test case if it
    /// is not so.
    void run(const std::function<void(cudaStream_t)>& launcher);
    /// The same for a launcher whose contract lets it wait, or for more than one: it
    /// may wait, and copy to and from the host.
    void run_and_wait(const std::function<void(cudaStream_t)>& launcher);

    /// Compares an output with the reference. Fails the test case if it is wrong;
    /// before that, runs the launcher again to see whether the result changes from run
    /// to run. Now and then a launcher that was right is called again, with other
    /// numbers in the same buffers, from another host thread and behind other work.
    void expect(const std::string& name,
                const std::vector<double>& expected,
                const Bound& bound);

    /// Behind run() and expect(), for a contract that says so: passes if all outputs
    /// have the same bits whatever order threads and blocks run in. On a GPU, where the
    /// order is not ours: each of a few times. Numbers should be such that sums lose
    /// digits; small ones, for it launches five times.
    void expect_same_bits();

    /// Passes if the launcher puts nothing at all onto its stream: zero-size work.
    void expect_no_work(const std::function<void(cudaStream_t)>& launcher);

    /// Passes if the launcher puts its work onto the given stream and onto no other,
    /// and neither waits for it nor does it itself. Nothing runs: the outputs stay as
    /// they are.
    void expect_queued(const std::function<void(cudaStream_t)>& launcher);

    /// The values of an output after run().
    std::vector<double> read(const std::string& name) const;

 private:
    enum class Role { input, output, in_out };
    struct Array;
    struct Watched;

    void watch(const std::string& name,
               const void* memory,
               std::size_t bytes,
               std::size_t element_bytes);

    /// A number that may be any other: no index, no count, no bits of something.
    template <class T>
    static constexpr bool is_floating = std::is_floating_point_v<T> ||
                                        (std::is_class_v<T> &&
                                         std::is_constructible_v<float, T>);

    template <class T>
    static double read_element(const unsigned char* bytes) {
        T value;
        std::memcpy(&value, bytes, sizeof(T));
        return static_cast<double>(value);
    }

    void* add(const std::string& name,
              Role role,
              const Shape& shape,
              std::size_t element_bytes,
              bool is_floating,
              ReadElement read,
              const void* values,
              std::size_t count,
              Begin begin = Begin::aligned);
    Array& find(const std::string& name) const;
    Observed observe(const Array& array) const;
    Observed observe(const Array& array, const std::vector<unsigned char>& bytes) const;
    void run_watched(const std::function<void(cudaStream_t)>& launcher, bool may_wait);
    bool has_output() const;
    bool changes_from_run_to_run(const Array& array,
                                 const Observed& first,
                                 const Bound& bound);
    /// A NaN that is wanted may have all its bits set, as poison has: the launch is
    /// repeated on zeros, which nobody takes for one. True if `got` learns that
    /// something has been written after all.
    bool writes_poison(const Array& array,
                       const std::vector<double>& expected,
                       Observed& got);
    /// A NaN to which numbers are added stays the poison that it was: so the launch is
    /// repeated on zeros. True if the output is right then. `got` learns what has been
    /// written after all.
    bool adds_to_what_was_there(const Array& array,
                                const std::vector<double>& expected,
                                const Bound& bound,
                                Observed& got);

    /// How a call after the first one differs from it (src/called_again.cpp).
    struct Again {
        const char* detail;   ///< of the finding
        bool other_contents;  ///< a call with other numbers in the buffers precedes it
        bool other_stream;
        bool other_thread;
        bool queued;  ///< work lies in front of it on its stream, and behind it
    };
    /// Calls once more what has been right, and passes if it is right again.
    void expect_again(const Array& array,
                      const std::vector<double>& expected,
                      const Bound& bound);
    bool is_to_be_called_again() const;
    /// Calls, with other numbers in the arrays, and does not look at what comes of it.
    void call_with_other_numbers(const std::function<void(cudaStream_t)>& launcher);
    /// Calls again: each call must destroy what it makes. What is made once, and kept
    /// for all calls, is there by now.
    void expect_no_objects_kept();
    /// Calls on the null stream, by its other name, too, and on that of the thread: a
    /// launcher takes them as any other. How right the results are is not looked at.
    void call_on_default_streams(const std::function<void(cudaStream_t)>& launcher);
    /// The result goes to Array::again; the arrays are then as the first call left
    /// them. Gives what the launcher did besides: an error, or that it waited.
    std::optional<Finding> call_again(const Again& how);
    std::optional<Finding> call_queued(const Again& how, cudaStream_t stream);
    void set_arrays(bool other_contents);
    /// The result is the same for whatever numbers in the inputs.
    bool ignores_contents(const Array& array);
    /// What was broken by a call that differs from the first one in as little as
    /// possible.
    Finding what_differs(const Array& array,
                         const std::vector<double>& expected,
                         const Bound& bound);

    /// @param zeroed  an output that holds zeros instead of poison
    void launch(const Array* zeroed = nullptr);
    void check_memory();
    [[noreturn]] void fail(Finding finding) const;

    std::string implementation_;
    std::string case_;
    std::vector<std::unique_ptr<Array>> arrays_;
    std::vector<std::unique_ptr<Watched>> watched_;
    std::function<void(cudaStream_t)> launcher_;
    cudaStream_t stream_ = nullptr;
    cudaStream_t other_stream_ = nullptr;  ///< does not wait for the default stream
    double launch_seconds_ = 0;  ///< of the host's processors, for the last launch
    bool may_wait_ = false;
    bool has_other_streams_ = false;  ///< the launcher put work on streams of its own
    bool has_made_objects_ = false;   ///< streams, events, graphs or the like
    bool is_new_run_ = false;         ///< nothing has been expected of it yet
};

/// Passes if `call` throws wb::InvalidArgument whose message contains `part`, and has
/// queued nothing by then; says in the learner's words what happened instead. For
/// launchers that must refuse.
void expect_refused(const std::string& implementation,
                    const std::string& what,
                    const std::string& part,
                    const std::function<void()>& call);

}  // namespace wb::testing
