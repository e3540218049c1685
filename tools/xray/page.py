"""The report as one HTML file that needs nothing else.

page.html holds its parts. What a part is given is escaped, unless it is a part itself.
"""

import math
import re
from pathlib import Path
from string import Template

from html import escape
from xray.annotate import Line, annotate
from xray.explain import Cost, bank_ways, efficiency
from xray.gpu import occupancy, resources_of
from xray.model import Roofline, predict, roofline
from xray.run import Access, Finding, Kernel, Place
from xray.source import quote
from xray.totals import Total, alike_text, bill_text, ncu_command, totals, verdict
from xray.words import (
    bytes_text, count_text, dim_text, percent_text, place_text, position_text,
    ratio_text, relative_to, time_text)

FOLDER = Path(__file__).parent
MOST_BOXES = 32
BOX, GAP = 14, 3  # pixels

KEYWORDS = """alignas auto bool break case char class const constexpr continue default
do double else extern false float for goto if inline int int32_t int64_t uint32_t
uint64_t long namespace nullptr operator private public reinterpret_cast return short
signed size_t sizeof static static_assert static_cast struct switch template this true
typedef typename union unsigned using void volatile while float2 float4 half half2 int2
int4 dim3"""
CUDA_WORDS = """__global__ __device__ __host__ __shared__ __constant__ __restrict__
__launch_bounds__ __syncthreads __syncwarp threadIdx blockIdx blockDim gridDim warpSize
__shfl_sync __shfl_down_sync __shfl_xor_sync __shfl_up_sync atomicAdd __ldg"""
WORDS = dict.fromkeys(KEYWORDS.split(), "k") | dict.fromkeys(CUDA_WORDS.split(), "g")
TOKEN = re.compile(
    r"""(?P<c>//.*|/\*.*?(?:\*/|$))|(?P<s>"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)"""
    r"""|(?P<n>\d[\w.']*)|(?P<word>\w+)|.""")


class Html(str):
    """Text that is HTML already."""


def _parts() -> dict[str, Template]:
    text = (FOLDER / "page.html").read_text(encoding="utf-8")
    pieces = re.split(r"\n*<!-- part (\w+) -->\n", text)[1:]
    return dict(zip(pieces[::2], map(Template, pieces[1::2])))


PARTS = _parts()


def part(name: str, /, **values) -> Html:
    """A part of the page."""
    values = {k: v if isinstance(v, Html) else escape(str(v), quote=True)
              for k, v in values.items()}
    return Html(PARTS[name].substitute(values).rstrip("\n"))


def joined(parts) -> Html:
    return Html("".join(parts))


def highlighted(line: str, in_comment: bool = False) -> tuple[Html, bool]:
    """A line of CUDA with its keywords, numbers, strings and comments in spans, and
    whether a comment is open behind it."""
    def span(kind: str, text: str) -> str:
        return f'<span class="{kind}">{escape(text)}</span>' if kind else escape(text)

    found, start = "", 0
    if in_comment:
        close = line.find("*/")
        start = len(line) if close < 0 else close + 2
        found, in_comment = span("c", line[:start]) if line else "", close < 0
    for match in TOKEN.finditer(line, start):
        kind = WORDS.get(match[0], "") if match["word"] else match.lastgroup
        found += span(kind or "", match[0])
        if kind == "c" and match[0].startswith("/*"):
            in_comment = len(match[0]) < 4 or not match[0].endswith("*/")
    return Html(found), in_comment


def boxes(count: float, used: float, title: str) -> Html:
    """A picture of a request: a box for each sector (or pass), filled as far as it is
    used. Thirty-two boxes with a thin stripe each are worth more than "12 %"."""
    number = min(max(round(count), 1), MOST_BOXES)
    filled = max(1, math.floor(BOX * used + 0.5))
    drawn = (part("box", x=i * (BOX + GAP), y=BOX - filled, filled=filled)
             for i in range(number))
    return part("boxes", title=title, width=number * (BOX + GAP), boxes=joined(drawn))


def picture(access: Access) -> Html:
    """The picture of the access that a cost is about; empty if it has none."""
    if access.requests <= 0:
        return Html()
    if access.space == "shared":
        passes = access.wavefronts / access.requests
        return boxes(passes, 1 / bank_ways(access),
                     f"{ratio_text(passes)} passes a request; filled: the banks in use")
    if access.op == "atomic" and (queue := access.max_same_address) > 1.5:
        return boxes(
            queue, 1 / queue,
            f"{ratio_text(queue)} updates of one address, one after another")
    if access.sectors <= 0:
        return Html()
    sectors = access.sectors / access.requests
    return boxes(
        sectors, efficiency(access), f"{ratio_text(sectors)} sectors of 32 bytes a"
        " request; filled: the bytes wanted")


class Page:
    """Writes a report (__main__.Report)."""

    def __init__(self, report) -> None:
        self.report = report

    def html(self) -> str:
        report, run = self.report, self.report.run
        sections, last = [], None
        for number, kernel in enumerate(run.kernels):
            if kernel.section != last:
                last = kernel.section
                sections.append(self._section(last))
            sections.append(self._kernel(number, kernel))
        links = (part("link", number=i, name=k.name) for i, k in enumerate(run.kernels))
        several = len(run.kernels) > 1
        return part(
            "page", title=report.title,
            seed=f" with seed {run.seed}" if run.seed else "",
            style=Html((FOLDER / "page.css").read_text("utf-8")),
            findings=self._findings(),
            navigation=Html(f"<nav>{joined(links)}</nav>") if several else "",
            sections=joined(sections),
            script=Html((FOLDER / "page.js").read_text("utf-8"))) + "\n"

    def _findings(self) -> Html:
        found = self.report.run.findings
        if not found:
            return part("safe")
        count = f"{len(found)} {'mistake' if len(found) == 1 else 'mistakes'}"
        return part("unsafe", count=count, findings=joined(map(self._finding, found)))

    def _finding(self, finding: Finding) -> Html:
        title = finding.what or finding.kind
        if finding.kind == "race":
            kind = "Data race" + (f": {finding.what}" if finding.what else "")
        else:
            kind = (title[:1].upper() + title[1:]).replace("_", " ")
        name = finding.variable  # the run may have written its space into it
        name = name if not name or "`" in name else f"{finding.space} `{name}`"
        other = part(
            "other", block=position_text(finding.other_block or finding.block),
            thread=position_text(finding.other_thread)) if finding.other_thread else ""
        root = self.report.root
        return part(
            "finding", kind=kind, kernel=finding.kernel,
            variable=f", on {name}" if name else "",
            block=position_text(finding.block), thread=position_text(finding.thread),
            other=other, text=finding.text,
            quotes=joined(
                (self._quote("at", finding.place), self._quote("and", finding.other))),
            fix=part("fix", fix=finding.fix) if finding.fix else "",
            lesson=part("lesson", address=f"{root}/{finding.lesson}/lesson.md",
                        lesson=finding.lesson) if finding.lesson else "",
            times=f" ({count_text(finding.count)} times in this run)"
            if finding.count > 1 else "")

    def _quote(self, role: str, place: Place) -> Html:
        text = quote(place)
        if not text:
            return Html()
        return part("quote", role=role, place=place_text(place, self.report.root),
                    text=highlighted(text)[0])

    def _section(self, name: str) -> Html:
        run, contract = self.report.run, self.report.run.contract(name)
        roof = self.report.gpu and roofline(run, name, self.report.gpu)
        mistake = contract.mistake
        bill = " ".join(filter(None, (bill_text(run, name), alike_text(run, name))))
        return part(
            "section", name=name or "Kernels", bill=bill,
            idea=part("idea", idea=contract.idea) if contract.idea else "",
            mistake=part("mistake", mistake=mistake) if mistake else "",
            size=f"{contract.size}: " if contract.size else "",
            roofline=roofline_picture(roof) if roof else "")

    def _kernel(self, number: int, kernel: Kernel) -> Html:
        good, text = verdict(kernel)
        source = []
        for view in annotate(kernel, self.report.run.findings):
            lines, in_comment = [], False
            for line in view.lines:
                code, in_comment = highlighted(line.text, in_comment)
                lines.append(self._line(kernel, view.file, line, code))
            file = relative_to(self.report.root, view.file)
            source.append(part("function", file=file, lines=joined(lines)))
        several = kernel.launches > 1
        where = place_text(kernel.launched_at, self.report.root)
        rows = totals(kernel) + self._resources(kernel)
        return part(
            "kernel", number=number, name=kernel.name, verdict=text,
            grid=dim_text(kernel.grid), block=dim_text(kernel.block),
            launches=f", {count_text(kernel.launches)} launches" if several else "",
            launched_at=f", launched at {where}" if kernel.launched_at.file else "",
            heat="good" if good else "hot", source=joined(source),
            totals=joined(map(self._row, rows)), model=self._model(kernel),
            ncu=ncu_command(kernel, self.report.program))

    def _line(self, kernel: Kernel, file: str, line: Line, code: Html) -> Html:
        accesses = [a for a in kernel.accesses if a.place == Place(file, line.number)]
        pictures = list(map(picture, accesses))  # costs begin with the accesses
        why = []
        for number, cost in enumerate(line.costs):
            if cost.advice and cost.heat:
                drawn = pictures[number] if number < len(pictures) else ""
                why.append(part("why", heat=cost.heat.name, picture=drawn,
                                sentence=cost.sentence, advice=cost.advice))
        return part(
            "line", heat=line.heat.name + (" costly" if line.costs else ""),
            number=line.number, costs=joined(map(self._chip, line.costs)), text=code,
            why=joined(why))

    @staticmethod
    def _chip(cost: Cost) -> Html:
        share = part("efficiency", text=cost.efficiency) if cost.efficiency else ""
        return part("chip", heat=cost.heat.name, sentence=cost.sentence, what=cost.what,
                    figure=cost.figure, efficiency=share)

    @staticmethod
    def _row(total: Total) -> Html:
        return part("row", label=total.label, value=total.value, remark=total.remark,
                    metrics=Html("<br>".join(map(escape, total.metrics))))

    def _resources(self, kernel: Kernel) -> list[Total]:
        gpu = self.report.gpu
        if not gpu:
            return []
        found = resources_of(kernel, self.report.resources)
        if not found:
            return [Total("registers", "not known", self.report.resources_note)]
        spilled = found.spill_stores + found.spill_loads
        warps, limit = occupancy(found, kernel, gpu)
        most = gpu.limits["max_warps"]
        return [
            Total("registers", f"{found.registers} a thread",
                  f"{bytes_text(spilled)} are spilled to memory" if spilled else
                  "nothing is spilled", ("launch__registers_per_thread",)),
            Total("occupancy, at most", percent_text(warps / most),
                  f"{warps} of {most} warps on a {gpu.arch} multiprocessor, limited by"
                  f" {limit}", ("sm__maximum_warps_per_active_cycle_pct",))]

    def _model(self, kernel: Kernel) -> Html:
        gpu = self.report.gpu
        if not gpu:
            return Html()
        model = predict(kernel, gpu, self.report.run.flop(kernel))
        longest = max(model.launch, model.longest)
        launches = f"{count_text(kernel.launches)} of them"
        bars = (
            part("bar", name=name, time=time_text(seconds), reason=reason,
                 percent=f"{max(0.5, 100 * seconds / longest):f}")
            for name, reason, seconds in
            (("launch", launches, model.launch), *model.terms))
        return part("model", gpu=gpu.name, time=time_text(model.seconds),
                    bound=model.bound, bars=joined(bars))


class Axis:
    """A range of powers of ten between two pixels, and the places of values in it."""

    def __init__(self, first: int, last: int, begin: float, end: float) -> None:
        self.first, self.last, self.begin, self.end = first, last, begin, end

    def at(self, value: float) -> float:
        share = (math.log10(value) - self.first) / (self.last - self.first)
        return self.begin + min(max(share, 0.0), 1.0) * (self.end - self.begin)

    def powers(self):
        """Each power of ten: where it is, and how it is written."""
        for exponent in range(self.first, self.last + 1):
            text = f"{10.0**exponent:.{max(0, -exponent)}f}"
            yield self.at(10.0**exponent), f"{int(text):,}" if exponent >= 0 else text


def roofline_picture(place: Roofline) -> Html:
    """Two logarithmic axes, the roof, and where a rung stands under it."""
    def exponent(value: float) -> int:
        return math.floor(math.log10(value))

    def label(x: float, y: float, anchor: str, text: str) -> Html:
        return part("label", x=f"{x:.1f}", y=f"{y:.1f}", anchor=anchor, text=text)

    peak, expected = place.peak * 1e-12, place.predicted * 1e-12
    lowest = exponent(min(place.intensity, place.ridge, 1.0))
    x = Axis(lowest, exponent(max(place.intensity, place.ridge)) + 1, 56.0, 448.0)
    y = Axis(min(exponent(expected), 0), exponent(peak) + 1, 186.0, 12.0)

    def point(intensity: float, rate: float) -> str:
        return f"{x.at(intensity):.1f},{y.at(rate):.1f}"

    grid = []
    for at, text in x.powers():
        grid.append(part("grid", line=f"M{at:.1f} {y.begin:.1f}V{y.end:.1f}"))
        grid.append(label(at, y.begin + 14, "middle", text))
    for at, text in y.powers():
        grid.append(part("grid", line=f"M{x.begin:.1f} {at:.1f}H{x.end:.1f}"))
        grid.append(label(x.begin - 6, at + 4, "end", text))
    slope = place.gpu.rates["copy"] * 1e-12  # TFLOP/s for each FLOP a byte
    left = max(10.0**x.first, 10.0**y.first / slope)
    roof = (point(left, left * slope), point(place.ridge, peak),
            point(10.0**x.last, peak))
    return part(
        "roofline", grid=joined(grid), roof=" ".join(roof), sentence=place,
        here=point(place.intensity, expected),
        above=point(place.intensity, place.roof * 1e-12),
        x=f"{x.at(place.intensity):.1f}", y=f"{y.at(expected):.1f}",
        labels=joined((
            label((x.begin + x.end) / 2, 216.0, "middle", "operations for each byte"),
            label(x.end, y.at(peak) - 6, "end", f"{ratio_text(peak)} TFLOP/s"))))
