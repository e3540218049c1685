#pragma once
// Handles given to the program: only those in a table are ever dereferenced, so that a
// destroyed or invented handle is an error and not a crash.

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace simt::detail {

/// Of all tables together; see simt::objects().
inline std::atomic<unsigned long> handles_made{0};
inline std::atomic<unsigned long> handles_alive{0};

/// Owns the objects behind one kind of handle. Safe to use from several threads. Tables
/// are never destroyed: destructors of the program's own static objects may still free
/// streams and events when the process ends.
template <class T>
class HandleTable {
 public:
    /// Takes the object and gives its handle.
    T* insert(std::unique_ptr<T> object) {
        const std::lock_guard lock(mutex_);
        T* handle = object.get();
        objects_.emplace(handle, std::move(object));
        ++handles_made;
        ++handles_alive;
        return handle;
    }

    bool contains(const T* handle) {
        const std::lock_guard lock(mutex_);
        return objects_.contains(handle);
    }

    /// Gives the object back to be destroyed; null for an unknown handle.
    std::unique_ptr<T> remove(const T* handle) {
        const std::lock_guard lock(mutex_);
        const auto found = objects_.find(handle);
        if (found == objects_.end()) return nullptr;
        std::unique_ptr<T> object = std::move(found->second);
        objects_.erase(found);
        --handles_alive;
        return object;
    }

    template <class Condition>
    void remove_if(Condition condition) {
        const std::lock_guard lock(mutex_);
        handles_alive -= std::erase_if(
            objects_, [&](const auto& entry) { return condition(*entry.second); });
    }

    void clear() {
        const std::lock_guard lock(mutex_);
        handles_alive -= objects_.size();
        objects_.clear();
    }

 private:
    std::mutex mutex_;
    std::unordered_map<const T*, std::unique_ptr<T>> objects_;
};

}  // namespace simt::detail
