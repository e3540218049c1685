#include "annotate.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace xray {
namespace {

using CostsByLine = std::map<std::pair<std::string, int>, std::vector<Cost>>;

/// Headers that a learner neither wrote nor should have to read.
bool is_foreign(const std::string& file) {
    return file.empty() || file.find("/simt/include/") != std::string::npos ||
           file.rfind("/usr/", 0) == 0;
}

/// A mark where a mistake was found.
Cost mark(const Finding& finding) {
    Cost cost;
    cost.what = finding.kind == "race" ? "RACE" : "UNSAFE";
    cost.figure = "see the top";
    cost.heat = Heat::hot;
    cost.sentence = finding.text;
    return cost;
}

CostsByLine costs_by_line(const Kernel& kernel, const std::vector<Finding>& findings) {
    CostsByLine costs;
    const auto add = [&](const Place& place, Cost cost) {
        if (!is_foreign(place.file))
            costs[{place.file, place.line}].push_back(std::move(cost));
    };
    for (const Access& access : kernel.accesses)
        add(access.place, explain(access, kernel));
    for (const Barrier& barrier : kernel.barriers)
        add(barrier.place, explain(barrier, kernel));
    for (const Branch& branch : kernel.branches) {
        const Cost cost = explain(branch, kernel);
        // Where all lanes go one way there is nothing to see.
        if (cost.heat != Heat::none) add(branch.place, cost);
    }
    for (const Finding& finding : findings) {
        if (finding.kernel != kernel.name || finding.section != kernel.section)
            continue;
        add(finding.place, mark(finding));
        const bool same = finding.other.file == finding.place.file &&
                          finding.other.line == finding.place.line;
        if (!same) add(finding.other, mark(finding));
    }
    return costs;
}

FunctionView view(const std::string& path,
                  const SourceFile& file,
                  int first,
                  int last,
                  const CostsByLine& costs) {
    FunctionView result{path, {}};
    for (int number = first; number <= last; ++number) {
        LineView line{number, file.line(number), {}};
        const auto found = costs.find({path, number});
        if (found != costs.end()) line.costs = found->second;
        result.lines.push_back(std::move(line));
    }
    return result;
}

/// Where several lines say the same, the first one says it.
void explain_once(std::vector<FunctionView>& functions) {
    std::set<std::string> said;
    for (FunctionView& function : functions) {
        for (LineView& line : function.lines) {
            for (Cost& cost : line.costs) {
                if (!cost.advice.empty() && !said.insert(cost.sentence).second)
                    cost.advice.clear();
            }
        }
    }
}

}  // namespace

Heat LineView::heat() const {
    Heat worst = Heat::none;
    for (const Cost& cost : costs)
        worst = std::max(worst, cost.heat);
    return worst;
}

std::vector<FunctionView> annotate(const Kernel& kernel,
                                   const std::vector<Finding>& findings,
                                   Sources& sources) {
    const CostsByLine costs = costs_by_line(kernel, findings);
    std::vector<std::pair<std::string, Function>> functions;
    const auto add = [&](const std::string& path, const Function& function) {
        for (const auto& [known_path, known] : functions)
            if (known_path == path && known.first == function.first) return;
        functions.push_back({path, function});
    };
    const Function* own =
        sources.file(kernel.place.file).function_named(base_name(kernel.name));
    if (own != nullptr) add(kernel.place.file, *own);
    for (const auto& [place, line_costs] : costs) {
        const SourceFile& file = sources.file(place.first);
        const Function* function = file.function_at(place.second);
        // A line outside of every function that was found is shown alone.
        add(place.first,
            function != nullptr ? *function : Function{place.second, place.second, ""});
    }
    std::vector<FunctionView> result;
    for (const auto& [path, function] : functions) {
        result.push_back(
            view(path, sources.file(path), function.first, function.last, costs));
    }
    explain_once(result);
    return result;
}

std::vector<Remark> remarks(const std::vector<FunctionView>& functions) {
    std::vector<Remark> found;
    for (const FunctionView& function : functions) {
        for (const LineView& line : function.lines) {
            for (const Cost& cost : line.costs) {
                if (!cost.advice.empty() && cost.heat != Heat::none)
                    found.push_back({{function.file, line.number}, cost});
            }
        }
    }
    std::stable_sort(found.begin(), found.end(), [](const Remark& a, const Remark& b) {
        return a.cost.heat > b.cost.heat;
    });
    return found;
}

}  // namespace xray
