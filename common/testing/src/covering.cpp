#include <wb/testing/covering.h>
#include <wb/testing/guarded_buffer.h>
#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <stdexcept>

namespace wb::testing {

std::size_t Factor::level_of(std::int64_t value) const {
    for (std::size_t i = 0; i < levels.size(); ++i) {
        if (levels[i].value == value) return i;
    }
    throw std::out_of_range("factor " + name + " has no level " +
                            std::to_string(value));
}

Combination::Combination(const std::vector<Factor>& factors,
                         std::vector<std::size_t> levels)
    : levels_(std::move(levels)) {
    for (std::size_t f = 0; f < factors.size(); ++f)
        chosen_.emplace_back(factors[f].name, factors[f].levels[levels_[f]]);
}

std::size_t Combination::place(const std::string& factor) const {
    for (std::size_t f = 0; f < chosen_.size(); ++f) {
        if (chosen_[f].first == factor) return f;
    }
    throw std::out_of_range("there is no factor " + factor);
}

std::int64_t Combination::operator[](const std::string& factor) const {
    return chosen_[place(factor)].second.value;
}

const std::string& Combination::words(const std::string& factor) const {
    return chosen_[place(factor)].second.text;
}

std::string Combination::text() const {
    std::string text;
    for (const auto& [name, level] : chosen_)
        text += (text.empty() ? "" : ", ") + name + " " + level.text;
    return text;
}

Covering& Covering::factor(const std::string& name,
                           const std::vector<std::int64_t>& levels) {
    Factor factor{name, {}};
    for (const std::int64_t value : levels)
        factor.levels.push_back({std::to_string(value), value});
    factors_.push_back(std::move(factor));
    return *this;
}

Covering& Covering::factor(const std::string& name,
                           const std::vector<std::string>& levels) {
    Factor factor{name, {}};
    for (std::size_t i = 0; i < levels.size(); ++i)
        factor.levels.push_back({levels[i], static_cast<std::int64_t>(i)});
    factors_.push_back(std::move(factor));
    return *this;
}

std::size_t Covering::place(const std::string& name) const {
    for (std::size_t f = 0; f < factors_.size(); ++f) {
        if (factors_[f].name == name) return f;
    }
    throw std::out_of_range("there is no factor " + name);
}

Covering& Covering::triples(const std::string& a,
                            const std::string& b,
                            const std::string& c) {
    triples_.push_back({place(a), place(b), place(c)});
    return *this;
}

Covering& Covering::all_triples() {
    has_all_triples_ = true;
    return *this;
}

Covering& Covering::forbid(const std::vector<std::string>& names, Forbidden forbidden) {
    Rule rule{{}, std::move(forbidden)};
    for (const std::string& name : names)
        rule.factors.push_back(place(name));
    rules_.push_back(std::move(rule));
    return *this;
}

/// The state of one search: what has not met yet.
class CoveringSearch {
 public:
    CoveringSearch(const Covering& design, std::uint64_t seed)
        : design_(design), random_(seed) {
        const std::size_t n = design.factors_.size();
        groups_of_.resize(n);
        for (std::size_t a = 0; a < n; ++a) {
            for (std::size_t b = a + 1; b < n; ++b) {
                add_group({a, b});
                for (std::size_t c = b + 1; design.has_all_triples_ && c < n; ++c)
                    add_group({a, b, c});
            }
        }
        for (const auto& triple : design.triples_)
            add_group(triple);
        // Factors that a rule speaks of come first, so that a dead end shows early.
        std::vector<bool> ruled(n, false);
        for (const auto& rule : design.rules_) {
            for (const std::size_t f : rule.factors)
                ruled[f] = true;
        }
        for (std::size_t f = 0; f < n; ++f)
            (ruled[f] ? ruled_ : free_).push_back(f);
    }

    std::vector<Combination> run() {
        std::vector<Combination> cases;
        while (missing_ > 0) {
            Row best;
            std::size_t most = 0;
            for (int i = 0; i < kCandidates && missing_ > 0; ++i) {
                const Row row = candidate();
                const std::size_t met = row.empty() ? 0 : newly_met(row);
                if (met > most) {
                    best = row;
                    most = met;
                }
            }
            if (most == 0) continue;  // all candidates began with the impossible
            meet(best);
            cases.emplace_back(design_.factors_,
                               std::vector<std::size_t>(best.begin(), best.end()));
        }
        return cases;
    }

 private:
    static constexpr int kCandidates = 12;
    static constexpr int kOpen = -1;
    using Row = std::vector<int>;  // a level of each factor, or kOpen

    /// Factors whose levels must all meet.
    struct Group {
        std::vector<std::size_t> factors;
        std::vector<bool> missing;  // by levels, the last factor's first
        std::size_t count;          // of those that are
    };

    void add_group(const std::vector<std::size_t>& factors) {
        std::size_t tuples = 1;
        for (const std::size_t f : factors) {
            groups_of_[f].push_back(groups_.size());
            tuples *= design_.factors_[f].levels.size();
        }
        groups_.push_back({factors, std::vector<bool>(tuples, true), tuples});
        missing_ += tuples;
    }

    /// The tuple of a row in a group; false if a level is open.
    bool tuple_of(const Group& group, const Row& row, std::size_t& tuple) const {
        tuple = 0;
        for (const std::size_t f : group.factors) {
            if (row[f] == kOpen) return false;
            tuple = tuple * design_.factors_[f].levels.size() +
                    static_cast<std::size_t>(row[f]);
        }
        return true;
    }

    bool is_new(const Group& group, const Row& row) const {
        std::size_t tuple = 0;
        return group.count > 0 && tuple_of(group, row, tuple) && group.missing[tuple];
    }

    std::size_t newly_met(const Row& row) const {
        return static_cast<std::size_t>(
            std::count_if(groups_.begin(), groups_.end(), [&](const Group& group) {
                return is_new(group, row);
            }));
    }

    void remove(Group& group, std::size_t tuple) {
        group.missing[tuple] = false;
        --group.count;
        --missing_;
    }

    void meet(const Row& row) {
        for (Group& group : groups_) {
            std::size_t tuple = 0;
            if (tuple_of(group, row, tuple) && group.missing[tuple])
                remove(group, tuple);
        }
    }

    /// No rule whose factors are all chosen forbids it.
    bool allowed(const Row& row) const {
        std::vector<std::int64_t> values;
        for (const auto& rule : design_.rules_) {
            values.clear();
            for (const std::size_t f : rule.factors) {
                if (row[f] == kOpen) break;
                values.push_back(
                    design_.factors_[f].levels[static_cast<std::size_t>(row[f])].value);
            }
            if (values.size() == rule.factors.size() && rule.forbidden(values))
                return false;
        }
        return true;
    }

    void shuffle(std::vector<std::size_t>& items) {
        for (std::size_t i = items.size(); i > 1; --i) {
            std::swap(items[i - 1],
                      items[static_cast<std::size_t>(random_.below(std::int64_t(i)))]);
        }
    }

    /// Chooses the levels of order[at], order[at + 1], ..., each the one that meets
    /// most of what is missing; goes back where nothing is allowed.
    bool fill(Row& row, const std::vector<std::size_t>& order, std::size_t at) {
        while (at < order.size() && row[order[at]] != kOpen)
            ++at;
        if (at == order.size()) return true;
        const std::size_t f = order[at];
        std::vector<std::size_t> levels(design_.factors_[f].levels.size());
        for (std::size_t i = 0; i < levels.size(); ++i)
            levels[i] = i;
        shuffle(levels);
        std::vector<int> gain(levels.size(), 0);
        for (const std::size_t level : levels) {
            row[f] = static_cast<int>(level);
            for (const std::size_t g : groups_of_[f])
                gain[level] += is_new(groups_[g], row) ? 1 : 0;
        }
        std::stable_sort(
            levels.begin(), levels.end(), [&](std::size_t a, std::size_t b) {
                return gain[a] > gain[b];
            });
        for (const std::size_t level : levels) {
            row[f] = static_cast<int>(level);
            if (allowed(row) && fill(row, order, at + 1)) return true;
        }
        row[f] = kOpen;
        return false;
    }

    /// A case that begins with something that has not met. Empty if that cannot be; it
    /// is then no longer missing.
    Row candidate() {
        auto number = static_cast<std::size_t>(random_.below(std::int64_t(missing_)));
        std::size_t g = 0;
        while (number >= groups_[g].count)
            number -= groups_[g++].count;
        Group& group = groups_[g];
        std::size_t tuple = 0;
        while (!group.missing[tuple] || number-- > 0)
            ++tuple;
        Row row(design_.factors_.size(), kOpen);
        std::size_t rest = tuple;
        for (std::size_t i = group.factors.size(); i-- > 0;) {
            const std::size_t f = group.factors[i];
            const std::size_t levels = design_.factors_[f].levels.size();
            row[f] = static_cast<int>(rest % levels);
            rest /= levels;
        }
        std::vector<std::size_t> order = ruled_;
        std::vector<std::size_t> others = free_;
        shuffle(order);
        shuffle(others);
        order.insert(order.end(), others.begin(), others.end());
        if (allowed(row) && fill(row, order, 0)) return row;
        remove(group, tuple);
        return {};
    }

    const Covering& design_;
    Random random_;
    std::vector<Group> groups_;
    std::vector<std::vector<std::size_t>> groups_of_;  // by factor
    std::vector<std::size_t> ruled_, free_;
    std::size_t missing_ = 0;
};

std::vector<Combination> Covering::cases(std::uint64_t seed) const {
    return CoveringSearch(*this, seed).run();
}

bool is_watched() {
    return runs_checked() || !canaries_wanted();
}

}  // namespace wb::testing
