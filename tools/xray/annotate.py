"""The source of a kernel, line by line, with what each line costs."""

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace

from xray import explain
from xray.explain import Cost, Heat
from xray.run import Finding, Kernel, Place
from xray.source import Function, base_name, source


@dataclass
class Line:
    """One line of source."""

    number: int
    text: str
    costs: list[Cost] = field(default_factory=list)

    @property
    def heat(self) -> Heat:
        """The worst of its costs."""
        return max((cost.heat for cost in self.costs), default=Heat.good)


@dataclass
class View:
    """One function that the kernel executed: itself, or one that it called."""

    file: str
    lines: list[Line]


def _is_foreign(file: str) -> bool:
    """A header that a learner neither wrote nor should have to read?"""
    return (not file or re.search(r"common/simt/\w+/include/", file) is not None
            or file.startswith("/usr/"))


def _mark(finding: Finding) -> Cost:
    """Where a mistake was found."""
    what = "RACE" if finding.kind == "race" else "UNSAFE"
    return Cost(what, "see the top", heat=Heat.hot, sentence=finding.text)


def _costs_by_line(kernel: Kernel, findings: list[Finding]) -> dict[Place, list[Cost]]:
    found = [(a.place, explain.of_access(a, kernel)) for a in kernel.accesses]
    found += [(b.place, explain.of_barrier(b, kernel)) for b in kernel.barriers]
    # Where all lanes go one way there is nothing to see.
    found += [(b.place, explain.of_branch(b, kernel)) for b in kernel.branches
              if explain.is_divergent(b)]
    for finding in findings:
        if finding.kernel == kernel.name and finding.section == kernel.section:
            for place in dict.fromkeys((finding.place, finding.other)):
                found.append((place, _mark(finding)))
    costs = defaultdict(list)
    for place, cost in found:
        if not _is_foreign(place.file):
            costs[place].append(cost)
    return costs


def annotate(kernel: Kernel, findings: list[Finding]) -> list[View]:
    """The functions of a kernel, its own body first. Lines of the simulator's and of
    the compiler's own headers are left out.

    findings: those of this kernel are marked at their lines"""
    costs = _costs_by_line(kernel, findings)
    functions: dict[tuple[str, int], Function] = {}

    def add(file: str, function: Function | None) -> None:
        if function:
            functions.setdefault((file, function.first), function)

    file = kernel.place.file
    add(file, source(file).function_named(base_name(kernel.name)))
    for file, line in sorted(costs):
        # A line outside of every function that was found is shown alone.
        add(file, source(file).function_at(line) or Function(line, line, ""))
    views = []
    for (file, first), function in functions.items():
        views.append(View(file, [
            Line(number, source(file).line(number),
                 [replace(cost) for cost in costs.get(Place(file, number), [])])
            for number in range(first, function.last + 1)]))
    _explain_once(views)
    return views


def _explain_once(views: list[View]) -> None:
    """Where several lines say the same, the first one says it."""
    said = set()
    for view in views:
        for cost in (cost for line in view.lines for cost in line.costs):
            if cost.advice and cost.sentence in said:
                cost.advice = ""
            elif cost.advice:
                said.add(cost.sentence)


def remarks(views: list[View]) -> list[tuple[Place, Cost]]:
    """The costs that deserve words, worst first, with their lines."""
    found = [
        (Place(view.file, line.number), cost) for view in views for line in view.lines
        for cost in line.costs if cost.advice and cost.heat]
    return sorted(found, key=lambda remark: -remark[1].heat)
