#include "meeting.h"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#ifdef SIMT_CPU
#include <simt/streams.h>
#endif

namespace wb::testing {
namespace {

constexpr std::chrono::milliseconds kPatience{1000};

thread_local Meeting* t_meeting = nullptr;
thread_local int t_number = 0;            // of the meeting's threads
thread_local bool t_takes_turns = false;  // it is in the launcher's call

/// While it lives, threads that take turns do so at each request to the runtime. That
/// of a GPU tells nobody.
struct Turns {
#ifdef SIMT_CPU
    static void take(simt::Issue, const void*) {
        if (t_takes_turns) t_meeting->take_turn();
    }
    Turns() {
        simt::on_issue(take);
    }
    ~Turns() {
        simt::on_issue(nullptr);
    }
    Turns(const Turns&) = delete;
    Turns& operator=(const Turns&) = delete;
#endif
};

}  // namespace

Meeting* Meeting::current() {
    return t_meeting;
}

bool& calls_are_made_again() {
    static thread_local bool again = false;
    return again;
}

bool& other_numbers_come_first() {
    static thread_local bool others = false;
    return others;
}

bool& default_streams_come_first() {
    static thread_local bool default_streams = false;
    return default_streams;
}

bool& failures_are_withheld() {
    static bool withheld = false;
    return withheld;
}

std::string& circumstance() {
    static thread_local std::string text;
    return text;
}

void Meeting::hold(const std::function<void()>& first,
                   const std::function<void()>& second) {
    std::optional<Turns> turns;
    if (in_turns_) turns.emplace();
    std::exception_ptr errors[2];
    std::thread one([&] { errors[0] = take_part(0, first); });
    std::thread two([&] { errors[1] = take_part(1, second); });
    one.join();
    two.join();
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

bool Meeting::is_first() {
    return t_number == 0;
}

std::exception_ptr Meeting::take_part(int number, const std::function<void()>& part) {
    const std::lock_guard has_baton(baton_);
    std::exception_ptr error;
    t_meeting = this;
    t_number = number;
    circumstance() = from_one_thread_
                         ? ", while the same host thread calls it on another stream"
                         : ", while another host thread calls it on another stream";
    try {
        part();
    } catch (...) {
        error = std::current_exception();
    }
    t_meeting = nullptr;
    leave();
    return error;
}

void Meeting::at_once(const std::function<void()>& prepare,
                      const std::function<void()>& call) {
    std::exception_ptr error;
    baton_.unlock();
    begin_turns();
    wait_for_other();
    try {
        prepare();
        t_takes_turns = in_turns_;
        make_call(call);
    } catch (...) {
        error = std::current_exception();
    }
    end_turns();
    wait_for_other();
    baton_.lock();
    if (error) std::rethrow_exception(error);
}

void Meeting::make_call(const std::function<void()>& call) {
    if (!from_one_thread_) return call();
    if (!is_first()) handed_ = &call;
    wait_for_other();  // both have come, or the other one is gone
    if (is_first()) {
        call();
        if (handed_ == nullptr) return;
        try {
            (*handed_)();
        } catch (...) {
            handed_error_ = std::current_exception();
        }
        handed_ = nullptr;
    }
    wait_for_other();
    if (is_first()) return;
    const bool was_made = handed_ == nullptr;
    handed_ = nullptr;
    if (!was_made) return call();
    if (handed_error_) std::rethrow_exception(std::exchange(handed_error_, nullptr));
}

void Meeting::begin_turns() {
    const std::lock_guard lock(mutex_);
    requests_[t_number] = 0;
    ++calling_;
    is_held_up_ = false;
}

void Meeting::take_turn() {
    std::unique_lock lock(mutex_);
    const unsigned long mine = ++requests_[t_number];
    const unsigned long& others = requests_[1 - t_number];
    changed_.notify_all();
    // The first thread's request is done when it comes with the next one.
    const bool came = changed_.wait_for(lock, kPatience, [&] {
        return is_held_up_ || calling_ < 2 ||
               (is_first() ? others >= mine : others > mine);
    });
    if (came) return;
    is_held_up_ = true;
    changed_.notify_all();
}

void Meeting::end_turns() {
    const std::lock_guard lock(mutex_);
    t_takes_turns = false;
    --calling_;
    changed_.notify_all();
}

void Meeting::wait_for_other() {
    std::unique_lock lock(mutex_);
    if (left_ > 0) return;
    if (++waiting_ == 2) {
        waiting_ = 0;
        ++round_;
        changed_.notify_all();
        return;
    }
    changed_.wait(lock,
                  [this, round = round_] { return round_ != round || left_ > 0; });
}

void Meeting::leave() {
    const std::lock_guard lock(mutex_);
    ++left_;
    changed_.notify_all();
}

}  // namespace wb::testing
