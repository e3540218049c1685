/// meeting.h: processes that find each other in a folder. Each leaves files there and
/// reads the others'; nobody waits for ever.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

/// The ranks of one run, each a process of its own, in a folder that all of them see.
///
/// What an earlier run has left there is not taken for an answer. Each process draws a
/// number and leaves it, and what it has read of all the others. When all have read the
/// same numbers, its own among them, everybody is there, and the numbers are the run's
/// name, which stands on top of each later file.
class Meeting {
 public:
    /// Returns when all ranks have come.
    ///
    /// @param folder   exists, or is made
    /// @param seconds  that it waits for another rank, here and in exchange()
    /// Throws std::runtime_error, which names the ranks that have not come
    Meeting(std::string folder, int rank, int ranks, double seconds)
        : folder_(std::move(folder)), rank_(rank), ranks_(ranks), seconds_(seconds) {
        std::error_code error;
        std::filesystem::create_directories(folder_, error);
        std::random_device random;
        number_ = std::to_string(uint64_t{random()} << 32 | random());
        hello_ = number_ + " of " + std::to_string(ranks);
        write("hello", hello_);
        for (const Clock::time_point begin = Clock::now(); !all_are_here();)
            wait(begin, [&] { return missing(); });
    }

    /// Leaves a text for the others.
    ///
    /// @returns  those of all ranks, in their order
    /// Throws std::runtime_error, which names a rank that does not answer
    std::vector<std::string> exchange(const std::string& text) {
        const std::string what = "round-" + std::to_string(++round_);
        write(what, name_ + "\n" + text);
        std::vector<std::string> all;
        const Clock::time_point begin = Clock::now();
        while (static_cast<int>(all.size()) < ranks_) {
            const auto other = static_cast<int>(all.size());
            const std::string said = read(what, other);
            if (said.compare(0, name_.size() + 1, name_ + "\n") == 0)
                all.push_back(said.substr(name_.size() + 1));
            else
                wait(begin, [&] {
                    return "rank " + std::to_string(other) +
                           " was there and does not answer any more: has it ended?";
                });
        }
        return all;
    }

 private:
    using Clock = std::chrono::steady_clock;

    bool all_are_here() {
        std::string seen;
        for (int r = 0; r < ranks_; ++r)
            seen += read("hello", r) + ", ";
        if (read("hello", rank_) != hello_)
            throw std::runtime_error("another process calls itself rank " +
                                     std::to_string(rank_) + ", too, in " + folder_);
        if (seen != name_) write("seen", name_ = seen);
        for (int r = 0; r < ranks_; ++r)
            if (read("seen", r) != name_) return false;
        return true;
    }

    /// Who has not come, in words.
    std::string missing() const {
        std::string text;
        for (int r = 0; r < ranks_; ++r) {
            if (read("seen", r) == name_) continue;
            if (!text.empty()) text += "\n";
            const std::string hello = read("hello", r);
            text += "rank " + std::to_string(r) + " has not come to " + folder_;
            if (const size_t at = hello.find(" of "); at != hello.npos)
                if (const std::string said = hello.substr(at + 4);
                    said != std::to_string(ranks_))
                    text += " (the last one that did said that there are " + said +
                            " ranks, not " + std::to_string(ranks_) + ")";
        }
        return text + "\nWas a process started for each of " + std::to_string(ranks_) +
               " ranks, with the same folder?";
    }

    template <class Why>
    void wait(Clock::time_point begin, const Why& why) const {
        if (std::chrono::duration<double>(Clock::now() - begin).count() > seconds_)
            throw std::runtime_error(why());
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }

    std::string path(const std::string& what, int rank) const {
        return folder_ + "/" + what + "-of-rank-" + std::to_string(rank);
    }

    /// A reader finds the old file or the new one, never half of one. The half has a
    /// name of its own: another process may call itself the same rank.
    void write(const std::string& what, const std::string& text) const {
        const std::string to = path(what, rank_);
        const std::string half = to + "." + number_ + ".part";
        {
            std::ofstream file(half, std::ios::binary);
            file << text;
            if (!file.flush()) throw std::runtime_error("cannot write " + half);
        }
        if (std::rename(half.c_str(), to.c_str()) != 0)
            throw std::runtime_error("cannot write " + to);
    }

    /// Nothing if there is no file.
    std::string read(const std::string& what, int rank) const {
        std::ifstream file(path(what, rank), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::string folder_;
    int rank_, ranks_;
    double seconds_;
    std::string number_;
    std::string hello_;
    std::string name_;
    int round_ = 0;
};
