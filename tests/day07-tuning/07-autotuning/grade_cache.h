/// grade_cache.h: judges cache_key() and tuned(), with files in a directory of its own.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "cache_file.h"
#include "grade.h"

/// A directory that is removed with its owner. It is not made: a cache does that.
class Directory {
 public:
    Directory()
        : path_(std::filesystem::temp_directory_path() /
                ("warpbook-tuning-" + std::to_string(getpid()))) {
        std::filesystem::remove_all(path_);
    }
    ~Directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;

    std::string path() const { return path_.string(); }

 private:
    std::filesystem::path path_;
};

inline Landscape some_rig() {
    return Landscape({"made up", 1000, 3000}, made_up_sites(1), {}, 1);
}

constexpr int kSomeTrials = 27;

inline Choice tuned_in(Landscape& rig, const std::string& directory) {
    return result_of("tuned", [&] { return tuned(rig, kSomeTrials, directory); });
}

/// Tunes once, so that there is a file. @return its path
inline std::string make_file(const Directory& directory) {
    Landscape rig = some_rig();
    (void)tuned_in(rig, directory.path());
    const std::string key = result_of("cache_key", [&] { return cache_key(rig); });
    const std::string path = cache_path(directory.path(), key);
    expect(read_file(path).has_value(), "tuned leaves no file " + path);
    return path;
}

inline void write_text(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

/// Tunes with what is in the file now. @param again  whether trials are expected
inline void expect_tuned(const std::string& what,
                         Landscape rig,
                         const Directory& directory,
                         bool again) {
    const Choice choice = tuned_in(rig, directory.path());
    expect_fair("tuned, " + what, choice, rig, kSomeTrials);
    expect(
        choice.trials == rig.trials && (rig.trials > 0) == again,
        "tuned, " + what + ": " + std::to_string(rig.trials) + " trials are made" +
            (again ? ", but it should tune again" : ", but the file has the choice"));
}

inline void grade_key() {
    const auto key = [](const Landscape& rig) {
        return result_of("cache_key", [&] { return cache_key(rig); });
    };
    const std::string usual = key(some_rig());
    expect(!usual.empty() && usual.back() == '\n', "the key does not end with \\n");
    const auto compare = [&](const std::string& what,
                             bool same,
                             const std::function<void(Landscape&)>& change) {
        Landscape rig = some_rig();
        change(rig);
        expect((key(rig) == usual) == same,
               "cache_key: " + what + (same ? " changes it" : " does not change it"));
    };
    const bool differs = false;
    const bool same = true;
    compare("nothing", same, [](Landscape&) {});
    compare("another GPU", differs, [](Landscape& r) { r.gpu().name = "Other"; });
    compare("another capability", differs, [](Landscape& r) {
        r.gpu().capability = "8.0";
    });
    compare("another driver", differs, [](Landscape& r) { r.gpu().driver = "13.1"; });
    compare("another toolkit", differs, [](Landscape& r) { r.gpu().toolkit = "12.8"; });
    compare(
        "another family", differs, [](Landscape& r) { r.problem().family = "gemv"; });
    compare("a configuration of another name", differs, [](Landscape& r) {
        r.site(7).name = "new";
    });
    compare("one more that does not take the shape", differs, [](Landscape& r) {
        r.site(7).footprint.takes_shape = false;
    });
    compare("another name of the first configuration", differs, [](Landscape& r) {
        r.site(0).name = "new";
    });
    compare("another name of the last configuration", differs, [](Landscape& r) {
        r.site(r.count() - 1).name = "new";
    });
    compare("1023 rows", same, [](Landscape& r) { r.problem().rows = 1023; });
    compare("512 rows", same, [](Landscape& r) { r.problem().rows = 512; });
    compare("511 rows", differs, [](Landscape& r) { r.problem().rows = 511; });
    compare("1024 rows", differs, [](Landscape& r) { r.problem().rows = 1024; });
    compare("no rows", differs, [](Landscape& r) { r.problem().rows = 0; });
    compare("4095 columns", same, [](Landscape& r) { r.problem().cols = 4095; });
    compare("4096 columns", differs, [](Landscape& r) { r.problem().cols = 4096; });
    compare("rows for columns", differs, [](Landscape& r) {
        std::swap(r.problem().rows, r.problem().cols);
    });
    // Words that stand next to each other must not run into each other.
    Landscape a = some_rig();
    Landscape b = some_rig();
    a.gpu().driver = "13.0";
    a.gpu().toolkit = "13.01";
    b.gpu().driver = "13.01";
    b.gpu().toolkit = "13.0";
    expect(key(a) != key(b), "cache_key: driver and toolkit may change places");
}

inline void grade_second_time() {
    const Directory directory;
    Landscape first = some_rig();
    const Choice found = tuned_in(first, directory.path());
    expect_fair("tuned", found, first, kSomeTrials);
    expect(first.trials > 0, "tuned: nothing is timed, although there is no file");
    Landscape second = some_rig();
    const Choice again = tuned_in(second, directory.path());
    expect(second.trials == 0 && again.trials == 0,
           "tuned: " + std::to_string(second.trials) +
               " trials are made although the file has the choice");
    expect(again.config == found.config && again.us == found.us,
           "tuned: the file gives another choice than was found: " +
               second.name(again.config));
    // Other files: of a longer key, and with the first configuration for a choice.
    for (int other = 0; other < 2; ++other) {
        Landscape rig = some_rig();
        rig.problem().family = other == 0 ? "made up, with a longer name" : "first";
        if (other == 1) {  // and the model knows it
            rig.site(0).us = 1e-3;
            rig.site(0).footprint.bytes = 1.0;
            rig.site(0).footprint.shared_passes = 0.0;
        }
        Landscape copy = rig;
        (void)tuned_in(rig, directory.path());
        expect_tuned("the second time", copy, directory, false);
    }
    // The default directory is a matter of the environment.
    setenv("XDG_CACHE_HOME", directory.path().c_str(), 1);
    expect(default_cache_directory() == directory.path() + "/warpbook",
           "XDG_CACHE_HOME is not where the cache is");
    setenv("XDG_CACHE_HOME", "not/absolute", 1);
    setenv("HOME", directory.path().c_str(), 1);
    expect(default_cache_directory() == directory.path() + "/.cache/warpbook",
           "the cache is not below HOME");
}

/// Thirty families of 36, of which only the last one can run.
inline Landscape many_sites() {
    std::vector<Site> sites;
    for (int family = 0; family < 30; ++family) {
        for (Site site : made_up_sites(1)) {
            site.name = "family " + std::to_string(family) + ", " + site.name;
            site.parameters.push_back(family);
            site.footprint.takes_shape = family == 29;
            sites.push_back(site);
        }
    }
    return Landscape({"made up", 1000, 1000}, sites, {}, 1);
}

/// Key and file of a table of more than a thousand.
inline void grade_many_sites() {
    const auto key = [](const Landscape& rig) {
        return result_of("cache_key", [&] { return cache_key(rig); });
    };
    Landscape renamed = many_sites();
    renamed.site(renamed.count() - 1).name = "new";
    expect(key(renamed) != key(many_sites()),
           "cache_key: another name of the last of many does not change it");
    const Directory directory;
    expect_tuned("with many configurations", many_sites(), directory, true);
    expect_tuned("with many configurations again", many_sites(), directory, false);
}

inline void grade_damage() {
    const Directory directory;
    const std::string path = make_file(directory);
    const std::string text = *read_file(path);
    const auto tuned_again = [&](const std::string& what, const std::string& damaged) {
        write_text(path, damaged);
        expect_tuned(what, some_rig(), directory, true);
        expect_tuned("after " + what, some_rig(), directory, false);
    };
    tuned_again("an empty file", "");
    tuned_again("half a file", text.substr(0, text.size() / 2));
    tuned_again("a file without its last line", text.substr(0, text.rfind("checksum")));
    tuned_again("a file with more behind it", text + text);
    for (const char* word : {"choice ", "us ", "checksum "}) {
        std::string changed = text;
        char& letter = changed[changed.rfind(word) + std::string(word).size()];
        letter = letter == '1' ? '2' : '1';
        tuned_again(std::string("a file whose '") + word + "' is another", changed);
    }
    tuned_again("noise", std::string("\0\xff\n\n\x7f", 5));
}

inline void grade_other_gpu() {
    const Directory directory;
    const std::string path = make_file(directory);
    Landscape other = some_rig();
    other.gpu().name = "Other GPU";
    expect_tuned("on another GPU", other, directory, true);
    expect_tuned("on the first GPU again", some_rig(), directory, false);
    Landscape newer = some_rig();
    newer.gpu().driver = "13.1";
    expect_tuned("with a new driver", newer, directory, true);
    // A whole file, in the wrong place.
    const std::string key = result_of("cache_key", [&] { return cache_key(other); });
    write_text(path, *read_file(cache_path(directory.path(), key)));
    expect_tuned("with a file of another key", some_rig(), directory, true);
}

inline void grade_distrust() {
    const Directory directory;
    (void)make_file(directory);
    Landscape rig = some_rig();
    const Choice kept = tuned_in(rig, directory.path());
    Landscape wrong = some_rig();
    wrong.site(kept.config).outcome = Outcome::wrong;
    expect_tuned("where the kept one is wrong", wrong, directory, true);
    const Choice other = tuned_in(wrong, directory.path());
    Landscape full = some_rig();
    full.site(other.config).footprint.blocks_per_sm = 0;
    expect_tuned("where the kept one has no room", full, directory, true);
    // A name that was never one, and a key and a checksum that are right.
    const std::string key = result_of("cache_key", [&] { return cache_key(rig); });
    write_text(cache_path(directory.path(), key), encode(key, "block 7", 1.0));
    expect_tuned("where the kept one has no such name", some_rig(), directory, true);
}

inline void grade_replacement() {
    const Directory directory;
    const std::string path = make_file(directory);
    // A second name for the old file: whoever writes into it changes this one, too.
    const std::string old_text = "somebody reads this\n";
    write_text(path, old_text);
    const std::string other_name = directory.path() + "/old";
    std::filesystem::create_hard_link(path, other_name);
    expect_tuned("with a file that somebody reads", some_rig(), directory, true);
    expect(read_file(other_name) == old_text,
           "tuned writes into the file that others may be reading",
           "replace_file() writes another one and renames it");
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
        (void)entry;
        ++files;
    }
    expect(files == 2, "tuned leaves " + std::to_string(files - 2) + " files behind");
}

inline void grade_unwritable() {
    const Directory directory;
    std::filesystem::create_directories(directory.path());
    const std::string file = directory.path() + "/file";
    write_text(file, "no directory can be below a file\n");
    Landscape rig = some_rig();
    expect_thrown<CacheError>("tuned, with a directory that cannot be made",
                              file + "/cache",
                              [&] { (void)tuned(rig, kSomeTrials, file + "/cache"); });
}
