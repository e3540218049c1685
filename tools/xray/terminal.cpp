// The report for a terminal: findings first, then each kernel's source with what its
// lines cost, then totals.
#include "annotate.h"
#include "options.h"
#include "totals.h"
#include "words.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>

namespace xray {
namespace {

constexpr int kMargin = 34;  // columns of the costs beside the source
constexpr int kNumber = 5;

class Printer {
 public:
    explicit Printer(Report& report) : report_(report) {}

    void print() {
        findings();
        std::string section;
        for (const Kernel& kernel : report_.run.kernels) {
            if (kernel.section != section) section_head(kernel.section);
            section = kernel.section;
            print_kernel(kernel);
        }
    }

 private:
    enum Style { plain, bold, dim, red, yellow, green };

    std::string styled(Style style, const std::string& text) const {
        static const char* const codes[] = {"", "1", "2", "31", "33", "32"};
        if (!report_.colour || style == plain) return text;
        return std::string("\033[") + codes[style] + "m" + text + "\033[0m";
    }

    static Style style_of(Heat heat) {
        if (heat == Heat::hot) return red;
        return heat == Heat::warm || heat == Heat::mild ? yellow : green;
    }

    void line(const std::string& text = "") const { std::printf("%s\n", text.c_str()); }

    /// Text broken between words, with a hanging indent.
    void paragraph(const std::string& text, const std::string& margin) const {
        const std::size_t width =
            report_.width > 40 ? static_cast<std::size_t>(report_.width) : 100;
        std::istringstream words(text);
        std::string current = margin;
        bool empty = true;
        for (std::string word; words >> word;) {
            if (!empty && current.size() + 1 + word.size() > width) {
                line(current);
                current = margin;
                empty = true;
            }
            current += (empty ? "" : " ") + word;
            empty = false;
        }
        if (!empty) line(current);
    }

    void findings() {
        const auto& all = report_.run.findings;
        if (all.empty()) {
            line(styled(green,
                        "Nothing unsafe was found in what ran: no race, no access "
                        "out of bounds, no uninitialised read."));
            return;
        }
        line(styled(
            red,
            std::to_string(all.size()) +
                (all.size() == 1 ? " mistake was found" : " mistakes were found")));
        for (const Finding& finding : all)
            print_finding(finding);
    }

    /// A line of the source, unless the report has it already.
    void quote(const Finding& finding, const Place& place) {
        const std::string text = report_.sources.quote(place.file, place.line);
        if (text.empty() || finding.text.find(text) != std::string::npos) return;
        line("      " + place_text(place, report_.root) + styled(dim, "  | ") + text);
    }

    void print_finding(const Finding& finding) {
        line();
        std::istringstream text(finding.text);
        for (std::string row; std::getline(text, row);)
            line("  " + (row.rfind("==SIMT== ", 0) == 0 ? row.substr(9) : row));
        quote(finding, finding.place);
        const bool same = finding.other.file == finding.place.file &&
                          finding.other.line == finding.place.line;
        if (!same) quote(finding, finding.other);
        if (!finding.fix.empty() && finding.text.find(finding.fix) == std::string::npos)
            paragraph("Usually fixed so: " + finding.fix, "    ");
    }

    void section_head(const std::string& section) {
        if (section.empty()) return;
        line();
        const Contract* contract = report_.run.contract(section);
        std::string head = section;
        if (contract != nullptr) {
            if (!contract->idea.empty()) head += ": " + contract->idea;
            if (!contract->size.empty()) head += " (" + contract->size + ")";
        }
        line(styled(bold, "=== " + head));
        if (contract != nullptr && !contract->mistake.empty())
            line(styled(red, "    Its result is WRONG: " + contract->mistake));
        paragraph(bill_text(bill(report_.run, section)), "    ");
        if (!report_.gpu) return;
        const std::string roof =
            roofline_text(roofline(report_.run, section, *report_.gpu), *report_.gpu);
        if (!roof.empty()) paragraph("A model: " + roof, "    ");
    }

    void print_kernel(const Kernel& kernel) {
        line();
        std::string launch =
            dim_text(kernel.grid) + " blocks of " + dim_text(kernel.block) + " threads";
        if (kernel.launches > 1)
            launch += ", " + count_text(kernel.launches) + " launches";
        line(styled(bold, kernel.name) + "  " + launch);
        const Verdict judged = verdict(kernel);
        line("  " + styled(judged.good ? green : red, judged.text));
        const std::vector<FunctionView> functions =
            annotate(kernel, report_.run.findings, report_.sources);
        for (const FunctionView& function : functions)
            print_function(function);
        print_remarks(functions);
        print_totals(kernel);
        print_resources(kernel);
        print_model(kernel);
        line("  On a GPU: " + styled(dim, ncu_command(kernel, report_.program)));
    }

    static std::string padded(std::string text, int width) {
        if (static_cast<int>(text.size()) < width)
            text.resize(static_cast<std::size_t>(width), ' ');
        return text;
    }

    /// "store      32 of 4 sectors   12 %"
    std::string margin(const Cost& cost) const {
        std::string text = padded(cost.what, 13) + " " + padded(cost.figure, 15) + " ";
        std::string share = cost.efficiency;
        while (share.size() < 4)
            share.insert(0, " ");
        return styled(style_of(cost.heat), padded(text + share, kMargin));
    }

    std::string cut(const std::string& text) const {
        const int room = report_.width - kMargin - kNumber - 3;
        if (report_.width == 0 || room < 20 || static_cast<int>(text.size()) <= room)
            return text;
        return text.substr(0, static_cast<std::size_t>(room - 3)) + "...";
    }

    void print_function(const FunctionView& function) {
        line(styled(
            dim,
            padded("", kMargin) + "      " + relative_to(report_.root, function.file)));
        for (const LineView& view : function.lines) {
            std::string number = std::to_string(view.number);
            number.insert(
                0, std::max(0, kNumber - static_cast<int>(number.size())), ' ');
            const std::string first =
                view.costs.empty() ? padded("", kMargin) : margin(view.costs[0]);
            line(first + styled(dim, number + " | ") + cut(view.text));
            for (std::size_t i = 1; i < view.costs.size(); ++i)
                line(margin(view.costs[i]) + styled(dim, padded("", kNumber) + " |"));
        }
    }

    void print_remarks(const std::vector<FunctionView>& functions) {
        const std::vector<Remark> found = remarks(functions);
        if (found.empty()) return;
        line();
        for (const Remark& remark : found) {
            line("  " + styled(style_of(remark.cost.heat),
                               "line " + std::to_string(remark.place.line) + ", " +
                                   remark.cost.what));
            paragraph(remark.cost.sentence + " " + remark.cost.advice, "    ");
        }
    }

    void print_totals(const Kernel& kernel) {
        line();
        for (const TotalRow& row : totals(kernel)) {
            line("  " + padded(row.label, 18) + padded(row.value, 38) +
                 styled(dim, row.remark));
        }
    }

    void print_resources(const Kernel& kernel) {
        if (!report_.gpu) return;
        const Resources* found = report_.resources_of(kernel);
        if (found == nullptr) {
            line("  " + padded("registers", 18) + report_.resources_note);
            return;
        }
        const Occupancy held = occupancy(*found,
                                         static_cast<int>(kernel.threads_per_block()),
                                         kernel.dynamic_shared,
                                         *report_.gpu);
        line("  " + padded("registers", 18) +
             padded(std::to_string(found->registers) + " a thread, " +
                        bytes_text(found->shared + kernel.dynamic_shared) + " shared",
                    38) +
             styled(dim,
                    found->spill_stores + found->spill_loads > 0
                        ? "SPILLED: " + bytes_text(found->spill_stores) + " out, " +
                              bytes_text(found->spill_loads) + " in"
                        : "nothing spilled"));
        line("  " + padded("occupancy", 18) +
             padded(percent_text(held.fraction) + ", " + std::to_string(held.warps) +
                        " of " + std::to_string(report_.gpu->max_warps) + " warps",
                    38) +
             styled(dim, "limited by " + held.limit));
    }

    void print_model(const Kernel& kernel) {
        if (!report_.gpu) return;
        const Prediction prediction =
            predict(kernel, *report_.gpu, report_.run.flop(kernel));
        line(
            "  " + padded("model", 18) +
            padded(time_text(prediction.seconds) + " (" + report_.gpu->name + ")", 38) +
            styled(dim, "a model, not a measurement; bound by " + prediction.bound()));
        if (!prediction.missing.empty())
            line("  " + padded("", 18) + styled(yellow, prediction.missing));
        for (const Term& term : prediction.terms)
            line("  " + padded("", 18) +
                 styled(dim,
                        padded(term.name, 14) + padded(time_text(term.seconds), 10) +
                            term.reason));
    }

    Report& report_;
};

}  // namespace

void print_report(Report& report) {
    Printer(report).print();
}

}  // namespace xray
