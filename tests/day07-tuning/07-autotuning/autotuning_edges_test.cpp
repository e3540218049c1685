// Grades day07-tuning/07-autotuning: numbers past 24 and 32 bits, other GPUs, searches
// that have little to choose from, and rigs that differ by one thing.
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>

#include <cmath>
#include <functional>
#include <optional>

#include "autotuning.h"
#include "grade.h"
#include "grade_cache.h"

namespace {

std::string key_of(const Landscape& rig) {
    return result_of("cache_key", [&] { return cache_key(rig); });
}

/// Whether the keys of two rigs are the same, that differ by this.
void expect_keys(const std::string& what,
                 bool same,
                 const std::function<void(Landscape&)>& one,
                 const std::function<void(Landscape&)>& other) {
    Landscape a = some_rig();
    Landscape b = some_rig();
    one(a);
    other(b);
    expect((key_of(a) == key_of(b)) == same,
           "cache_key: " + what + (same ? " change it" : " do not change it"));
}

/// The first configurations by the model, of which only the last one is right.
Landscape only_one_right(int count) {
    auto sites = made_up_sites(1);
    sites.resize(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
        Site& site = sites[static_cast<size_t>(i)];
        site.footprint = sites.front().footprint;
        site.footprint.bytes = 1e8 + 1e7 * i;
        site.footprint.shared_passes = 0.0;
        site.outcome = i == count - 1 ? Outcome::right : Outcome::wrong;
    }
    return Landscape({"made up", 1000, 1000}, sites, {}, 1);
}

}  // namespace

TEST_CASE("the median of many, and to the last bit") {
    const auto is = [](const std::string& what, double got, double wanted) {
        expect(got == wanted,
               "median of " + what + " is " + std::to_string(got) + ", but should be " +
                   std::to_string(wanted));
    };
    // So many that whoever looks for one of the two in the middle has not sorted all.
    for (const int count : {20, 64, 1000}) {
        std::vector<double> samples;
        for (int i = 0; i < count; ++i)
            samples.push_back(static_cast<double>(i * 7919 % count));
        is(std::to_string(count) + " samples",
           result_of("median", [&] { return median(samples); }),
           0.5 * (count - 1));
    }
    is("183.29600989818573",
       result_of("median", [] { return median({183.29600989818573}); }),
       183.29600989818573);
}

TEST_CASE("the model: another GPU, and more blocks than 32 bits count") {
    const Gpu gpu = {"Other", "10.0", "13.1", "13.1", 7, 512, 99 * 1024, 3e6, 2e5, 0.9};
    const auto is = [&](const std::string& what, const Footprint& f, double wanted) {
        const double got = result_of("predict", [&] { return predict(f, gpu); });
        const bool met = std::isinf(wanted) ? got == wanted
                                            : std::abs(got - wanted) <= 1e-9 * wanted;
        expect(met,
               "predict, on a GPU of 7 multiprocessors, " + what + ": " +
                   std::to_string(got) + " us, but should be " +
                   std::to_string(wanted));
    };
    const double for_ever = std::numeric_limits<double>::infinity();
    Footprint f = {true, 512, 99 * 1024, 8, 100000, 6e8, 4096.0, 0.0};
    is("many blocks", f, 200.0 + 6e8 / (56 * 4096.0) * 0.9);
    f.blocks = (int64_t{1} << 32) + 1;
    is("2^32 + 1 blocks", f, 200.0 + 6e8 / (56 * 4096.0) * 0.9);
    f.blocks = int64_t{1} << 31;
    is("2^31 blocks", f, 200.0 + 6e8 / (56 * 4096.0) * 0.9);
    f.shared_passes = 2e9;
    is("shared memory takes longer", f, 10000.0);
    f.threads = 513;
    is("513 threads, where 512 are allowed", f, for_ever);
    f.threads = 512;
    f.shared_bytes = 99 * 1024 + 1;
    is("a byte too many of shared memory", f, for_ever);
}

TEST_CASE("the time of a choice is the median of all its samples") {
    for (const auto& [name, idea, tuner] : tuners()) {
        for (const int allowed : {1, 2, 5, 27, 200}) {
            Landscape rig({"made up", 1000, 1000}, made_up_sites(2), {0.05}, 3);
            const Choice choice =
                result_of(name, [&, tuner = tuner] { return tuner(rig, allowed); });
            expect_fair(name, choice, rig, allowed);
            expect(choice.us == rig.median_us(choice.config),
                   name + " says that its choice takes " + std::to_string(choice.us) +
                       " us, but the median of all its samples is " +
                       std::to_string(rig.median_us(choice.config)));
        }
    }
}

TEST_CASE("few trials, and those that the model likes are wrong") {
    for (const auto& [name, idea, tuner] : tuners()) {
        for (const int allowed : {1, 2, 4}) {
            Landscape rig = only_one_right(12);
            const Choice choice =
                result_of(name, [&, tuner = tuner] { return tuner(rig, allowed); });
            expect_fair(name, choice, rig, allowed);
        }
    }
}

TEST_CASE("no configurations, and fewer trials than none") {
    for (const auto& [name, idea, tuner] : tuners()) {
        Landscape none({"made up", 1000, 1000}, {}, {}, 1);
        expect_thrown<NothingWorks>(
            name, "", [&, tuner = tuner] { (void)tuner(none, 9); });
        auto sites = made_up_sites(1);
        for (Site& site : sites)
            site.footprint.takes_shape = false;
        Landscape unfit({"made up", 1000, 1000}, sites, {}, 1);
        expect_thrown<NothingWorks>(
            name, "", [&, tuner = tuner] { (void)tuner(unfit, 9); });
        Landscape rig = some_rig();
        wb::testing::expect_refused(
            name, "fewer trials than none", "max_trials is -1", [&, tuner = tuner] {
                (void)tuner(rig, -1);
            });
        expect(rig.trials == 0, name + " makes trials before it refuses -1 of them");
    }
}

TEST_CASE("nothing is kept from search to search") {
    for (const auto& [name, idea, tuner] : tuners()) {
        // The same problem in the same place; what was chosen is wrong the next time.
        std::optional<Landscape> rig;
        std::vector<int> chosen;
        for (int turn = 0; turn < 4; ++turn) {
            rig.emplace(Problem{"made up", 1000, 3000}, made_up_sites(1), Noise{}, 1);
            for (const int config : chosen)
                rig->site(config).outcome = Outcome::wrong;
            const Choice choice =
                result_of(name, [&, tuner = tuner] { return tuner(*rig, 27); });
            expect_fair(name, choice, *rig, 27);
            chosen.push_back(choice.config);
        }
    }
}

TEST_CASE("the key: sizes past 24 and 32 bits") {
    const auto rows = [](int64_t n) {
        return [n](Landscape& r) { r.problem().rows = n; };
    };
    const auto cols = [](int64_t n) {
        return [n](Landscape& r) { r.problem().cols = n; };
    };
    for (const int k : {10, 24, 31, 32, 40, 62}) {
        const int64_t n = int64_t{1} << k;
        const std::string text = "2^" + std::to_string(k);
        expect_keys(text + " and one row less", false, rows(n), rows(n - 1));
        expect_keys(text + " and one row more", true, rows(n), rows(n + 1));
        expect_keys(text + " and one column less", false, cols(n), cols(n - 1));
        expect_keys(text + " and one column more", true, cols(n), cols(n + 1));
    }
    expect_keys("1000 rows and 2^32 + 1000",
                false,
                rows(1000),
                rows((int64_t{1} << 32) + 1000));
    expect_keys("no column and one", false, cols(0), cols(1));
    expect_keys("no row and one", false, rows(0), rows(1));
}

TEST_CASE("the key: which take the shape, whose names, and no speed") {
    const auto leaves_out = [](int config) {
        return [config](Landscape& r) { r.site(config).footprint.takes_shape = false; };
    };
    expect_keys("as many configurations, but others, that take the shape",
                false,
                leaves_out(7),
                leaves_out(8));
    expect_keys(
        "names that run into each other",
        false,
        [](Landscape& r) {
            r.site(3).name = "tile 3";
            r.site(4).name = "2 rows";
        },
        [](Landscape& r) {
            r.site(3).name = "tile ";
            r.site(4).name = "32 rows";
        });
    expect_keys(
        "numbers that only the model needs",
        true,
        [](Landscape&) {},
        [](Landscape& r) {
            r.gpu().sms = 7;
            r.gpu().max_threads = 512;
            r.gpu().max_shared_bytes = 1024;
            r.gpu().bytes_per_us = 1e6;
            r.gpu().passes_per_us = 1e5;
            r.gpu().latency_us = 1.0;
        });
    expect_keys(
        "other bytes, blocks and parameters",
        true,
        [](Landscape&) {},
        [](Landscape& r) {
            r.site(2).footprint.bytes = 1.0;
            r.site(2).footprint.blocks = 3;
            r.site(2).parameters = {1, 2, 3};
            r.site(2).us = 1.0;
        });
}
