#include "meeting.h"

#include <thread>

namespace wb::testing {
namespace {

thread_local Meeting* t_meeting = nullptr;

}  // namespace

Meeting* Meeting::current() {
    return t_meeting;
}

bool& calls_are_made_again() {
    static thread_local bool again = false;
    return again;
}

std::string& circumstance() {
    static thread_local std::string text;
    return text;
}

void Meeting::hold(const std::function<void()>& first,
                   const std::function<void()>& second) {
    std::exception_ptr errors[2];
    std::thread one([&] { errors[0] = take_part(first); });
    std::thread two([&] { errors[1] = take_part(second); });
    one.join();
    two.join();
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

std::exception_ptr Meeting::take_part(const std::function<void()>& part) {
    const std::lock_guard has_baton(baton_);
    std::exception_ptr error;
    t_meeting = this;
    circumstance() = ", while another host thread calls it on another stream";
    try {
        part();
    } catch (...) {
        error = std::current_exception();
    }
    t_meeting = nullptr;
    leave();
    return error;
}

void Meeting::at_once(const std::function<void()>& call) {
    std::exception_ptr error;
    baton_.unlock();
    wait_for_other();
    try {
        call();
    } catch (...) {
        error = std::current_exception();
    }
    wait_for_other();
    baton_.lock();
    if (error) std::rethrow_exception(error);
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
