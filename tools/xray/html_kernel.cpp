#include "html.h"
#include "totals.h"
#include "words.h"

#include <algorithm>
#include <cmath>

namespace xray {
namespace {

constexpr int kMostBoxes = 32;

/// A picture of a request: a box for each sector (or pass), filled as far as it is
/// used. Thirty-two boxes with a thin stripe each are worth more than "12 %".
std::string boxes(double count, double used, const std::string& title) {
    const int n = std::clamp(static_cast<int>(std::lround(count)), 1, kMostBoxes);
    const int side = 14;
    const int gap = 3;
    std::string svg = "<svg class=\"boxes\" role=\"img\" aria-label=\"" +
                      escaped(title) + "\" width=\"" +
                      std::to_string(n * (side + gap)) + "\" height=\"" +
                      std::to_string(side) + "\"><title>" + escaped(title) + "</title>";
    const int filled = std::max(1, static_cast<int>(std::lround(side * used)));
    for (int i = 0; i < n; ++i) {
        const std::string x = std::to_string(i * (side + gap));
        svg += "<rect class=\"moved\" x=\"" + x +
               "\" width=\"14\" height=\"14\"/>"
               "<rect class=\"used\" x=\"" +
               x + "\" y=\"" + std::to_string(side - filled) +
               "\" width=\"14\" height=\"" + std::to_string(filled) + "\"/>";
    }
    return svg + "</svg>";
}

/// The picture of the access that a cost is about; "" if it has none.
std::string picture(const Access& access) {
    if (access.requests <= 0) return "";
    if (access.space == "shared") {
        const double passes = access.wavefronts / access.requests;
        return boxes(
            passes,
            1.0 / bank_ways(access),
            ratio_text(passes) + " passes a request; filled: the banks in use");
    }
    if (access.op == "atomic" && access.max_same_address > 1.5) {
        return boxes(access.max_same_address,
                     1.0 / access.max_same_address,
                     ratio_text(access.max_same_address) +
                         " updates of one address, one after another");
    }
    if (access.sectors <= 0) return "";
    const double sectors = access.sectors / access.requests;
    return boxes(sectors,
                 efficiency(access),
                 ratio_text(sectors) +
                     " sectors of 32 bytes a request; filled: the bytes wanted");
}

std::string chip(const Cost& cost) {
    return "<span class=\"chip " + std::string(heat_class(cost.heat)) + "\" title=\"" +
           escaped(cost.sentence) + "\"><b>" + escaped(cost.what) + "</b> " +
           escaped(cost.figure) +
           (cost.efficiency.empty() ? "" : " <i>" + escaped(cost.efficiency) + "</i>") +
           "</span>";
}

/// The accesses of a line, in the order of its costs.
std::vector<const Access*> accesses_at(const Kernel& kernel,
                                       const std::string& file,
                                       int line) {
    std::vector<const Access*> found;
    for (const Access& access : kernel.accesses)
        if (access.place.file == file && access.place.line == line)
            found.push_back(&access);
    return found;
}

std::string line_html(const Kernel& kernel,
                      const std::string& file,
                      const LineView& line,
                      bool& in_comment) {
    std::string html = "<div class=\"line " + std::string(heat_class(line.heat())) +
                       (line.costs.empty() ? "" : " costly") +
                       "\"><span class=\"no\">" + std::to_string(line.number) +
                       "</span><span class=\"costs\">";
    for (const Cost& cost : line.costs)
        html += chip(cost);
    html += "</span><code>" + highlighted(line.text, in_comment) + "</code></div>";
    const std::vector<const Access*> accesses = accesses_at(kernel, file, line.number);
    std::size_t next = 0;  // costs begin with the accesses
    for (const Cost& cost : line.costs) {
        const Access* access = next < accesses.size() ? accesses[next] : nullptr;
        ++next;
        if (cost.advice.empty() || cost.heat == Heat::none) continue;
        html += "<div class=\"why " + std::string(heat_class(cost.heat)) + "\">" +
                (access != nullptr ? picture(*access) : "") + "<p>" +
                escaped(cost.sentence) + "</p><p class=\"advice\">" +
                escaped(cost.advice) + "</p></div>";
    }
    return html;
}

std::string source_html(Report& report,
                        const Kernel& kernel,
                        const std::vector<FunctionView>& functions) {
    std::string html;
    for (const FunctionView& function : functions) {
        html += "<figure class=\"source\"><figcaption>" +
                escaped(relative_to(report.root, function.file)) + "</figcaption>";
        bool in_comment = false;
        for (const LineView& line : function.lines)
            html += line_html(kernel, function.file, line, in_comment);
        html += "</figure>";
    }
    return html;
}

std::string row(const std::string& label,
                const std::string& value,
                const std::string& remark,
                const std::string& metrics = "") {
    std::string names = escaped(metrics);
    for (std::size_t at = names.find(' '); at != std::string::npos;
         at = names.find(' '))
        names.replace(at, 1, "<br>");
    return "<tr><th>" + escaped(label) + "</th><td>" + escaped(value) + "</td><td>" +
           escaped(remark) + "</td><td class=\"metric\">" + names + "</td></tr>";
}

std::string resources_rows(Report& report, const Kernel& kernel) {
    if (!report.gpu) return "";
    const Resources* found = report.resources_of(kernel);
    if (found == nullptr) return row("registers", "not known", report.resources_note);
    const int threads = static_cast<int>(kernel.threads_per_block());
    const Occupancy held =
        occupancy(*found, threads, kernel.dynamic_shared, *report.gpu);
    const bool spills = found->spill_stores + found->spill_loads > 0;
    return row("registers",
               std::to_string(found->registers) + " a thread",
               spills ? bytes_text(found->spill_stores + found->spill_loads) +
                            " are spilled to memory"
                      : "nothing is spilled",
               "launch__registers_per_thread") +
           row("occupancy, at most",
               percent_text(held.fraction),
               std::to_string(held.warps) + " of " +
                   std::to_string(report.gpu->max_warps) + " warps on a " +
                   report.gpu->arch + " multiprocessor, limited by " + held.limit,
               "sm__maximum_warps_per_active_cycle_pct");
}

std::string totals_html(Report& report, const Kernel& kernel) {
    std::string html =
        "<table class=\"totals\"><thead><tr><th></th><th>counted</th><th></th>"
        "<th>in Nsight Compute</th></tr></thead><tbody>";
    for (const TotalRow& total : totals(kernel))
        html += row(total.label, total.value, total.remark, total.metrics);
    return html + resources_rows(report, kernel) + "</tbody></table>";
}

std::string model_html(Report& report, const Kernel& kernel) {
    if (!report.gpu) return "";
    const Prediction prediction = predict(kernel, *report.gpu, report.run.flop(kernel));
    std::string html = "<div class=\"model\"><h4>A model of the time, for the " +
                       escaped(report.gpu->name) + ": " +
                       time_text(prediction.seconds) + "</h4><p>Not a measurement. " +
                       "The launch, plus the longest of these as if it were alone; " +
                       "here: <b>" + escaped(prediction.bound()) + "</b>.</p>";
    const double longest =
        std::max(prediction.launch,
                 prediction.terms.empty() ? 0.0 : prediction.terms.front().seconds);
    const auto bar =
        [&](const std::string& name, double seconds, const std::string& reason) {
            const double share = longest > 0 ? 100.0 * seconds / longest : 0.0;
            html += "<div class=\"bar\"><span>" + escaped(name) +
                    "</span><span class=\"track\"><span style=\"width:" +
                    std::to_string(std::max(0.5, share)) + "%\"></span></span><span>" +
                    time_text(seconds) + "</span><small>" + escaped(reason) +
                    "</small></div>";
        };
    bar("launch", prediction.launch, count_text(kernel.launches) + " of them");
    for (const Term& term : prediction.terms)
        bar(term.name, term.seconds, term.reason);
    return html + "</div>";
}

}  // namespace

const char* heat_class(Heat heat) {
    switch (heat) {
        case Heat::hot:
            return "hot";
        case Heat::warm:
            return "warm";
        case Heat::mild:
            return "mild";
        default:
            return "good";
    }
}

std::string kernel_html(Report& report, const Kernel& kernel, int number) {
    const std::vector<FunctionView> functions =
        annotate(kernel, report.run.findings, report.sources);
    const std::string command = ncu_command(kernel, report.program);
    const Verdict judged = verdict(kernel);
    return "<article class=\"kernel\" id=\"kernel" + std::to_string(number) +
           "\"><h3>" + escaped(kernel.name) + "</h3><p class=\"launch\">" +
           escaped(dim_text(kernel.grid)) + " blocks of " +
           escaped(dim_text(kernel.block)) + " threads" +
           (kernel.launches > 1 ? ", " + count_text(kernel.launches) + " launches"
                                : "") +
           (kernel.launched_at.file.empty()
                ? ""
                : ", launched at " +
                      escaped(place_text(kernel.launched_at, report.root))) +
           "</p><p class=\"verdict " + (judged.good ? "good" : "hot") + "\">" +
           escaped(judged.text) + "</p>" + source_html(report, kernel, functions) +
           totals_html(report, kernel) + model_html(report, kernel) +
           "<div class=\"ncu\"><h4>Measure the same on a GPU</h4><pre>" +
           escaped(command) + "</pre></div></article>";
}

}  // namespace xray
