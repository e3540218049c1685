// Times day07-tuning/07-autotuning: what exhaustive search finds on this GPU, what a
// quarter of its trials finds, and what the model alone would have taken.
#include "autotuning.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>

#include "exhaustive.h"
#include "kernels/families.h"
#include "kernels/kernel_rig.h"

using namespace wb::bench;

namespace {

/// How often each tuner searches, to see how much is luck.
constexpr int kSearches = 10;
constexpr double kWithin = 1.03;

struct Size {
    const Family* family;
    int64_t rows, cols;

    std::string text() const {
        return family->name + " " + std::to_string(rows) + " x " + std::to_string(cols);
    }
    /// What the contract asks for: a transpose writes as much as it reads.
    double bytes() const {
        const auto m = static_cast<double>(rows);
        const auto n = static_cast<double>(cols);
        return sizeof(float) * (family->name == "gemv" ? m * n + m + n : 2.0 * m * n);
    }
};

/// The configuration that the model likes best, among those that are right.
int favourite(const KernelRig& rig, const Exhausted& all) {
    int best = all.configs.front();
    for (const int config : all.configs) {
        if (predict(rig.footprint(config), rig.gpu()) <
            predict(rig.footprint(best), rig.gpu()))
            best = config;
    }
    return best;
}

/// Milliseconds that a search takes, its checks included.
template <class Search>
double milliseconds_of(Search search) {
    const auto begin = std::chrono::steady_clock::now();
    search();
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - begin;
    return took.count();
}

/// What was best on the first size of each family: is it good on the others?
using Firsts = std::map<std::string, std::pair<std::string, int>>;  // size, config

/// One size, on arrays that are given.
class Comparison {
 public:
    Comparison(Bench& bench,
               const Size& size,
               const Array<float>& matrix,
               const Array<float>& x,
               const Array<float>& out)
        : bench_(bench),
          size_(size),
          matrix_(matrix),
          x_(x),
          out_(out),
          rig_(
              *size.family, size.rows, size.cols, matrix.data(), x.data(), out.data()) {
        all_ms_ = milliseconds_of([&] { all_ = exhaustive_search(rig_); });
    }

    void run(Firsts& firsts) {
        const Choice best = all_.best();
        const Launch launch_best = [&](cudaStream_t s) { rig_.launch(best.config, s); };
        Spec spec{size_.text(), ceiling(), size_.bytes()};
        wb::bench::Problem exhaustive = problem(spec);
        exhaustive.note("trials", best.trials);
        exhaustive.note("configurations", static_cast<double>(all_.configs.size()));
        exhaustive.note("slowest_over_best", slowest() / best.us);
        exhaustive.note("search_ms", all_ms_);
        exhaustive.time("exhaustive", rig_.name(best.config), launch_best);
        spec.limit = "what exhaustive search found";
        spec.limit_us = bench_.time_alone(launch_best);

        for (const auto& [name, idea, tuner] : wb::implementations("tune", tune))
            time_tuner(spec, name, tuner);
        wb::bench::Problem model = problem(spec);
        const int liked = favourite(rig_, all_);
        model.note("trials", 0);
        model.time("model alone", rig_.name(liked), [&](cudaStream_t s) {
            rig_.launch(liked, s);
        });
        const auto [first, is_first] =
            firsts.insert({size_.family->name, {size_.text(), best.config}});
        const auto& [first_size, config] = first->second;
        if (is_first || !rig_.footprint(config).takes_shape) return;
        wb::bench::Problem other = problem(spec);
        other.note("trials", 0);
        other.time("best of the first size",
                   rig_.name(config) + ", from " + first_size,
                   [&, config = config](cudaStream_t s) { rig_.launch(config, s); });
    }

 private:
    Ceiling ceiling() const {
        return size_.family->name == "gemv" ? Ceiling::read : Ceiling::copy;
    }

    double us_of(int config) const {
        for (size_t i = 0; i < all_.configs.size(); ++i)
            if (all_.configs[i] == config) return all_.us(i);
        return INFINITY;
    }

    double slowest() const {
        double us = 0.0;
        for (size_t i = 0; i < all_.configs.size(); ++i)
            us = std::max(us, all_.us(i));
        return us;
    }

    wb::bench::Problem problem(const Spec& spec) {
        wb::bench::Problem result = bench_.problem(spec);
        result.expect(
            "out",
            out_,
            [&](int64_t i) {
                if (size_.family->name == "transpose") {
                    const int64_t from = i % size_.rows * size_.cols + i / size_.rows;
                    return Expected{matrix_.at(from), 0.0};
                }
                const auto row = matrix_.host(i * size_.cols, size_.cols);
                const auto x = x_.host();
                double sum = 0.0;
                double magnitude = 0.0;
                for (size_t k = 0; k < x.size(); ++k) {
                    sum += double{row[k]} * x[k];
                    magnitude += std::abs(double{row[k]} * x[k]);
                }
                const double ku = static_cast<double>(x.size()) * 0x1p-24;
                return Expected{sum, ku / (1.0 - ku) * magnitude};
            },
            8);
        return result;
    }

    /// Searches many times, and times what was found first.
    void time_tuner(const Spec& spec,
                    const std::string& name,
                    Choice (*tuner)(Rig&, int)) {
        const int allowed = quarter_of(all_.trials);
        Choice found{};
        const double ms = milliseconds_of([&] { found = tuner(rig_, allowed); });
        const double best_us = all_.best().us;
        double worst = us_of(found.config) / best_us;
        int within = worst <= kWithin;
        for (int i = 1; i < kSearches; ++i) {
            const double loss = us_of(tuner(rig_, allowed).config) / best_us;
            within += loss <= kWithin;
            worst = std::max(worst, loss);
        }
        wb::bench::Problem rows = problem(spec);
        rows.note("trials", found.trials);
        rows.note("trials_percent", 100.0 * found.trials / all_.trials);
        rows.note("search_ms", ms);
        rows.note("searches", kSearches);
        rows.note("searches_within", within);
        rows.note("worst_loss_percent", 100.0 * (worst - 1.0));
        rows.time(name, rig_.name(found.config), [&](cudaStream_t s) {
            rig_.launch(found.config, s);
        });
        if (spec.limit_us > 0.0) {
            std::printf(
                "    %d of %d trials; %d of %d searches within 3 %%, worst %.1f %%\n",
                found.trials,
                all_.trials,
                within,
                kSearches,
                100.0 * (worst - 1.0));
        }
    }

    Bench& bench_;
    const Size& size_;
    const Array<float>& matrix_;
    const Array<float>& x_;
    const Array<float>& out_;
    KernelRig rig_;
    Exhausted all_;
    double all_ms_ = 0.0;
};

}  // namespace

WB_BENCH(autotuning, bench) {
    const Family* transpose = &transpose_family();
    const Family* gemv = &gemv_family();
    Firsts firsts;
    for (const Size& size :
         bench.sizes<Size>({{transpose, 70, 36}, {gemv, 33, 68}},
                           {{transpose, 4096, 4096}, {gemv, 4096, 4096}},
                           {{transpose, 8192, 8192},
                            {transpose, 1024, 1024},
                            {transpose, 2048, 16384},
                            {transpose, 1 << 20, 32},
                            {transpose, 4099, 4099},
                            {gemv, 8192, 8192},
                            {gemv, 1024, 1024},
                            {gemv, 64, 1 << 18},
                            {gemv, 1 << 20, 32},
                            {gemv, 8191, 4099}})) {
        if (!bench.fits(2.0 * size.bytes())) continue;
#ifdef SIMT_CPU
        if (size.bytes() > 1e6) continue;  // hundreds of launches of that
#endif
        const auto matrix = bench.random_normal(size.rows * size.cols);
        const auto x = bench.random_normal(size.cols);
        const auto out =
            bench.output<float>(size.family->results(size.rows, size.cols));
        Comparison(bench, size, matrix, x, out).run(firsts);
    }
}
