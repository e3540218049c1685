/// meeting.h: two host threads that grade, and meet where they call a launcher.
#pragma once

#include <wb/testing/verdict.h>

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <string>

namespace wb::testing {

/// Two threads that run graders in turn: what grades may not be run by two at once, but
/// the launchers are. Each has the baton but for the time of a launcher's call.
class Meeting {
 public:
    /// @param in_turns  in the simulator the launchers take turns at each request to
    ///                  the runtime, the first thread's first: what one keeps where the
    ///                  other finds it, an event or a handle, changes hands each time
    explicit Meeting(bool in_turns = false) : in_turns_(in_turns) {}

    /// From now on, a launcher that both threads call at once is called by the first
    /// one, for both: what belongs to a host thread is then found by both calls.
    Meeting& from_one_thread() {
        from_one_thread_ = true;
        return *this;
    }

    /// From now on, the work of the second thread's call is done before any of the
    /// first one's, though that was called first: in the simulator.
    Meeting& second_ahead() {
        second_ahead_ = true;
        return *this;
    }
    /// Whether this thread is the second one of such a meeting.
    bool is_ahead() const { return second_ahead_ && !is_first(); }

    /// The meeting that this thread takes part in, or null.
    static Meeting* current();

    /// Calls both, each from a thread of its own. Throws what the first one threw, else
    /// what the second one threw.
    void hold(const std::function<void()>& first, const std::function<void()>& second);

    /// Calls when the other thread comes, too, unless that has ended; returns when both
    /// calls have returned.
    ///
    /// @param prepare  is called before, and takes no turns
    void at_once(const std::function<void()>& prepare,
                 const std::function<void()>& call);

    bool in_turns() const { return in_turns_; }
    /// This thread is the first of the two.
    static bool is_first();
    /// The thread is about to ask the runtime for something: waits for its turn, but
    /// not for long, for the other thread may be held up by this one.
    void take_turn();

 private:
    std::exception_ptr take_part(int number, const std::function<void()>& part);
    void begin_turns();
    void end_turns();
    void wait_for_other();
    /// Calls, or has the first thread call. Rethrows what that throws here.
    void make_call(const std::function<void()>& call);
    void leave();

    std::mutex baton_;
    std::mutex mutex_;
    std::condition_variable changed_;
    int waiting_ = 0;
    int left_ = 0;
    unsigned long round_ = 0;
    const bool in_turns_;
    int calling_ = 0;
    unsigned long requests_[2] = {};  // of each thread, in its call
    bool is_held_up_ = false;         // no more turns in this call
    bool from_one_thread_ = false;
    bool second_ahead_ = false;
    const std::function<void()>* handed_ = nullptr;  // the second thread's call
    std::exception_ptr handed_error_;
};

/// While true, each call that this thread grades is made again (called_again.cpp),
/// however long it takes.
bool& calls_are_made_again();

/// While true, a call with other numbers in the same arrays precedes each that this
/// thread grades (called_again.cpp).
bool& other_numbers_come_first();

/// While true, a call on each default stream precedes each that this thread grades
/// (called_again.cpp).
bool& default_streams_come_first();

/// What fail() throws while failures are withheld: nobody is told yet.
struct Withheld {
    Finding finding;
};

/// While true, in the whole program, fail() only throws what it was given.
bool& failures_are_withheld();

/// What is special about the calls that this thread makes now, for the learner to read
/// behind the sizes; "" if nothing is.
std::string& circumstance();

}  // namespace wb::testing
