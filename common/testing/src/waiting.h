/// waiting.h: for how long this process could have run, and other programs had the
/// processors.
#pragma once

#include <dirent.h>

#include <cstdio>
#include <map>
#include <string>

namespace wb::testing {

/// Reads what Linux counts for each thread: the nanoseconds that it ran, and those that
/// it waited for a processor. A wait is counted when it is over.
class Waiting {
 public:
    Waiting() { restart(); }

    void restart() { before_ = counts(); }

    /// Seconds of waiting since the restart, of the thread that wanted a processor for
    /// longest: it is the one that works, others only look now and then. 0 where the
    /// system does not count.
    double seconds() const {
        Counts busiest;
        for (const auto& [thread, now] : counts()) {
            const auto found = before_.find(thread);
            const Counts before = found == before_.end() ? Counts() : found->second;
            const Counts since = {now.ran - before.ran, now.waited - before.waited};
            if (since.ran + since.waited > busiest.ran + busiest.waited)
                busiest = since;
        }
        return static_cast<double>(busiest.waited) * 1e-9;
    }

 private:
    struct Counts {
        long long ran = 0, waited = 0;
    };
    using Threads = std::map<std::string, Counts>;

    static Threads counts() {
        Threads all;
        DIR* const threads = opendir("/proc/self/task");
        if (!threads) return all;
        while (const dirent* const thread = readdir(threads)) {
            const std::string name = thread->d_name;
            const std::string path = "/proc/self/task/" + name + "/schedstat";
            std::FILE* const file = std::fopen(path.c_str(), "r");
            if (!file) continue;
            Counts now;
            if (std::fscanf(file, "%lld %lld", &now.ran, &now.waited) == 2)
                all.emplace(name, now);
            std::fclose(file);
        }
        closedir(threads);
        return all;
    }

    Threads before_;
};

}  // namespace wb::testing
