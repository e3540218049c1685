// The page around the kernels: head, findings, sections, and how to read it.
#include "html.h"

#include "page.h"
#include "totals.h"
#include "words.h"

#include <cctype>
#include <filesystem>

namespace xray {
namespace {

const char* const kHowToRead = R"(<details class="legend"><summary>How to read this page
</summary><p>Nothing here was timed. The program ran on the CPU, thread by thread, and
each access of each lane was written down; then the accesses of a warp were put together
as a GPU does it.</p>
<ul><li>A <b>request</b> is one load or store instruction of one warp, that is of
up to 32 lanes.</li>
<li>Memory is moved in <b>sectors</b> of 32 bytes. &ldquo;32 of 4 sectors&rdquo; says: a
request touched 32 sectors, while 4 could have held what its lanes wanted. The
percentage is what was wanted of what was moved.</li>
<li>Shared memory has 32 <b>banks</b>, each of which serves one 4-byte word at a time.
&ldquo;8-way&rdquo; says: a request takes 8 passes where one would do.</li>
<li>A line is coloured by how much of its kernel&rsquo;s traffic it wastes: a bad access
that happens once stays pale.</li>
<li>Two loads in one line are averaged: put them on lines of their own to tell them
apart.</li></ul>
<p>The names in the last column of the tables are Nsight Compute&rsquo;s; the command
below each kernel measures the same on a GPU.</p></details>)";

std::string quote_html(Report& report, const Place& place, const char* what) {
    const std::string text = report.sources.quote(place.file, place.line);
    if (text.empty()) return "";
    bool in_comment = false;
    return "<div class=\"quote\"><span>" + std::string(what) + " " +
           escaped(place_text(place, report.root)) + "</span><code>" +
           highlighted(text, in_comment) + "</code></div>";
}

std::string who(const char* word, const Dim3& block, const Dim3& thread) {
    return std::string(word) + " block " + position_text(block) + " thread " +
           position_text(thread);
}

std::string kind_title(const Finding& finding) {
    if (finding.kind == "race") {
        return "Data race" + (finding.what.empty() ? "" : ": " + finding.what);
    }
    std::string title = finding.what.empty() ? finding.kind : finding.what;
    for (char& c : title)
        if (c == '_') c = ' ';
    if (!title.empty()) title[0] = static_cast<char>(std::toupper(title[0]));
    return title;
}

/// "shared `s_sum` (4 bytes, ...)", whether the run wrote the space into it or not.
std::string variable_text(const Finding& finding) {
    if (finding.variable.find('`') != std::string::npos) return finding.variable;
    return finding.space + " `" + finding.variable + "`";
}

std::string finding_html(Report& report, const Finding& finding) {
    std::string html = "<article class=\"finding\"><h3>" +
                       escaped(kind_title(finding)) + "</h3><p class=\"who\">" +
                       escaped(finding.kernel);
    if (!finding.variable.empty()) html += ", on " + escaped(variable_text(finding));
    html += "<br>" + who("by", finding.block, finding.thread);
    if (finding.other_thread) {
        html += "<br>" + who("and",
                             finding.other_block.value_or(finding.block),
                             *finding.other_thread);
    }
    html += "</p>" + quote_html(report, finding.place, "at") +
            quote_html(report, finding.other, "and");
    if (!finding.fix.empty())
        html += "<p><b>Usually fixed so:</b> " + escaped(finding.fix) + "</p>";
    if (!finding.lesson.empty())
        html += "<p>Explained in <a href=\"" +
                escaped(report.root + "/" + finding.lesson + "/lesson.md") + "\">" +
                escaped(finding.lesson) + "</a>.</p>";
    html += "<details><summary>The report as printed";
    if (finding.count > 1)
        html += " (" + count_text(finding.count) + " times in this run)";
    return html + "</summary><pre>" + escaped(finding.text) +
           "</pre></details></article>";
}

std::string findings_html(Report& report) {
    const auto& all = report.run.findings;
    if (all.empty()) {
        return "<section class=\"safe\"><h2>Nothing unsafe was found</h2><p>No race, "
               "no "
               "access out of bounds, no uninitialised read, no barrier that some "
               "threads miss, in what this run executed.</p></section>";
    }
    std::string html = "<section class=\"unsafe\"><h2>" + std::to_string(all.size()) +
                       (all.size() == 1 ? " mistake" : " mistakes") + "</h2>";
    for (const Finding& finding : all)
        html += finding_html(report, finding);
    return html + "</section>";
}

std::string section_html(Report& report, const std::string& section) {
    const Contract* contract = report.run.contract(section);
    const Bill costs = bill(report.run, section);
    std::string html = "<h2>" + escaped(section.empty() ? "Kernels" : section);
    if (contract != nullptr && !contract->idea.empty())
        html += " <small>" + escaped(contract->idea) + "</small>";
    html += "</h2>";
    if (contract != nullptr && !contract->mistake.empty())
        html +=
            "<p class=\"wrong\">Its result is wrong: " + escaped(contract->mistake) +
            "</p>";
    html += "<p class=\"bill\">";
    if (contract != nullptr && !contract->size.empty())
        html += escaped(contract->size) + ": ";
    html += escaped(bill_text(costs)) + "</p>";
    if (report.gpu) {
        html += roofline_html(roofline(report.run, section, *report.gpu), *report.gpu);
    }
    return html;
}

std::string navigation(const Run& run) {
    if (run.kernels.size() < 2) return "";
    std::string html = "<nav>";
    for (std::size_t i = 0; i < run.kernels.size(); ++i) {
        html += "<a href=\"#kernel" + std::to_string(i) + "\">" +
                escaped(run.kernels[i].name) + "</a>";
    }
    return html + "</nav>";
}

}  // namespace

std::string html_report(Report& report) {
    const Run& run = report.run;
    std::string html =
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
        "name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>X-ray "
        "of " +
        escaped(report.title) + "</title><style>" + kStyle +
        "</style></head><body><header><h1>X-ray of " + escaped(report.title) +
        "</h1><p>What the memory system of a GPU would do for each line, counted in "
        "the "
        "simulator" +
        (run.seed != 0 ? " with seed " + std::to_string(run.seed) : "") +
        ".</p></header><main>" + findings_html(report) + navigation(run) + kHowToRead;
    bool first = true;
    std::string section;
    for (std::size_t i = 0; i < run.kernels.size(); ++i) {
        if (first || run.kernels[i].section != section)
            html += section_html(report, run.kernels[i].section);
        section = run.kernels[i].section;
        first = false;
        html += kernel_html(report, run.kernels[i], static_cast<int>(i));
    }
    return html + "</main><script>" + kScript + "</script></body></html>\n";
}

}  // namespace xray
