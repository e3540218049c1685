"""The report for a terminal: findings first, then each kernel's source with what its
lines cost, then totals."""

import textwrap

from xray.annotate import View, annotate, remarks
from xray.explain import Cost, Heat
from xray.gpu import occupancy, resources_of
from xray.model import predict, roofline
from xray.run import Finding, Kernel, Place
from xray.source import quote
from xray.totals import alike_text, bill_text, ncu_command, totals, verdict
from xray.words import (
    bytes_text, count_text, dim_text, percent_text, place_text, relative_to, time_text)

MARGIN = 34  # columns of the costs beside the source
STYLES = {"bold": "1", "dim": "2", "red": "31", "yellow": "33", "green": "32"}
COLOURS = {
    Heat.hot: "red", Heat.warm: "yellow", Heat.mild: "yellow", Heat.good: "green"}


class Printer:
    """Prints a report (__main__.Report) to stdout."""

    def __init__(self, report) -> None:
        self.report = report

    def print(self) -> None:
        self._findings()
        section = ""
        for kernel in self.report.run.kernels:
            if kernel.section != section:
                section = kernel.section
                self._section_head(section)
            self._kernel(kernel)

    def _styled(self, style: str, text: str) -> str:
        return f"\033[{STYLES[style]}m{text}\033[0m" if self.report.colour else text

    def _paragraph(self, text: str) -> None:
        width = self.report.width if self.report.width > 40 else 100
        margin = " " * 4
        for line in textwrap.wrap(
                text, width, initial_indent=margin, subsequent_indent=margin,
                break_long_words=False, break_on_hyphens=False):
            print(line)

    def _row(self, label: str, value: str, remark: str = "", style="dim") -> None:
        print(f"  {label:18}{value:38}{self._styled(style, remark)}")

    def _findings(self) -> None:
        found = self.report.run.findings
        if not found:
            print(self._styled(
                "green", "Nothing unsafe was found in what ran: no race, no access out"
                " of bounds, no uninitialised read."))
            return
        noun = "mistake was" if len(found) == 1 else "mistakes were"
        print(self._styled("red", f"{len(found)} {noun} found"))
        for finding in found:
            self._finding(finding)

    def _finding(self, finding: Finding) -> None:
        print()
        for line in finding.text.splitlines():
            print("  " + line.removeprefix("==SIMT== "))
        for place in dict.fromkeys((finding.place, finding.other)):
            self._quote(finding, place)
        if finding.fix and finding.fix not in finding.text:
            self._paragraph(f"Usually fixed so: {finding.fix}")

    def _quote(self, finding: Finding, place: Place) -> None:
        """A line of the source, unless the report has it already."""
        text = quote(place)
        if text and text not in finding.text:
            where = place_text(place, self.report.root)
            print(f"      {where}{self._styled('dim', '  | ')}{text}")

    def _section_head(self, section: str) -> None:
        if not section:
            return
        run, contract = self.report.run, self.report.run.contract(section)
        idea = f": {contract.idea}" if contract.idea else ""
        size = f" ({contract.size})" if contract.size else ""
        print("\n" + self._styled("bold", f"=== {section}{idea}{size}"))
        if contract.mistake:
            print(self._styled("red", f"    Its result is WRONG: {contract.mistake}"))
        self._paragraph(bill_text(run, section))
        if text := alike_text(run, section):
            self._paragraph(text)
        gpu = self.report.gpu
        if gpu and (roof := roofline(run, section, gpu)):
            self._paragraph(f"A model: {roof}")

    def _kernel(self, kernel: Kernel) -> None:
        launch = f"{dim_text(kernel.grid)} blocks of {dim_text(kernel.block)} threads"
        if kernel.launches > 1:
            launch += f", {count_text(kernel.launches)} launches"
        good, text = verdict(kernel)
        print(f"\n{self._styled('bold', kernel.name)}  {launch}")
        print("  " + self._styled("green" if good else "red", text))
        views = annotate(kernel, self.report.run.findings)
        for view in views:
            self._function(view)
        for number, (place, cost) in enumerate(remarks(views)):
            start = "\n" if number == 0 else ""
            where = place_text(place, self.report.root)
            what = self._styled(COLOURS[cost.heat], f"{where}, {cost.what}")
            print(f"{start}  {what}")
            self._paragraph(f"{cost.sentence} {cost.advice}")
        print()
        for total in totals(kernel):
            self._row(total.label, total.value, total.remark)
        if self.report.gpu:
            self._resources(kernel)
            self._model(kernel)
        command = ncu_command(kernel, self.report.program)
        print("  On a GPU: " + self._styled("dim", command))

    def _margin(self, cost: Cost) -> str:
        """ "store      32 of 4 sectors   12 %"."""
        text = f"{cost.what:13} {cost.figure:15} {cost.efficiency:>4}"
        return self._styled(COLOURS[cost.heat], f"{text:{MARGIN}}")

    def _cut(self, text: str) -> str:
        room = self.report.width - MARGIN - 8
        return text if room < 20 or len(text) <= room else text[:room - 3] + "..."

    def _function(self, view: View) -> None:
        file = relative_to(self.report.root, view.file)
        print(self._styled("dim", f"{'':{MARGIN}}      {file}"))
        for line in view.lines:
            first, *others = list(map(self._margin, line.costs)) or [" " * MARGIN]
            number = self._styled("dim", f"{line.number:5} | ")
            print(f"{first}{number}{self._cut(line.text)}")
            for other in others:
                print(other + self._styled("dim", "      |"))

    def _resources(self, kernel: Kernel) -> None:
        gpu = self.report.gpu
        found = resources_of(kernel, self.report.resources)
        if not found:
            print(f"  {'registers':18}{self.report.resources_note}")
            return
        shared = bytes_text(found.shared + kernel.dynamic_shared)
        spilled = (f"SPILLED: {bytes_text(found.spill_stores)} out,"
                   f" {bytes_text(found.spill_loads)} in")
        self._row("registers", f"{found.registers} a thread, {shared} shared",
                  spilled if found.spill_stores or found.spill_loads else
                  "nothing spilled")
        warps, limit = occupancy(found, kernel, gpu)
        most = gpu.limits["max_warps"]
        self._row("occupancy", f"{percent_text(warps / most)}, {warps} of {most} warps",
                  f"limited by {limit}")

    def _model(self, kernel: Kernel) -> None:
        gpu = self.report.gpu
        model = predict(kernel, gpu, self.report.run.flop(kernel))
        self._row("model", f"{time_text(model.seconds)} ({gpu.name})",
                  f"a model, not a measurement; bound by {model.bound}")
        if model.missing:
            print(f"{'':20}{self._styled('yellow', model.missing)}")
        for name, reason, seconds in model.terms:
            row = f"{name:14}{time_text(seconds):10}{reason}"
            print(f"{'':20}{self._styled('dim', row)}")
