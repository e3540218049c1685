"""The cases of a test program in several processes at once, each with a share of them,
and one verdict document of all: what a single process would have written.

Which cases there are is what the program lists before any of the learner's code runs
in main(). A share that has ended without one of its cases makes the whole incomplete.
"""

import heapq
import json
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

from learn import build, grade, steps, verdicts


class Ran(NamedTuple):
    """A share that was run."""

    names: list[str]
    status: int
    document: dict | None


def filter_of(names: list[str]) -> str:
    """Catch2's filter for just these cases."""
    return ",".join(re.sub(r"([\\,\[])", r"\\\1", name) for name in names)


def names(command: list, cases: str, log: Path, environment: dict) -> list[str]:
    """The cases that a filter chooses; empty if the program does not come to that."""
    result = steps.run(
        [*command, "--wb-list", cases], log, environment=environment,
        seconds=grade.time_limit())
    return result.text.splitlines() if result.status == 0 else []


def seconds_of(key: str, names: list[str]) -> dict[str, float]:
    """How long the chapter's cases took when they ran last, each in a process of its
    own. Nothing but the balance of the shares depends on it."""
    seconds = {}
    for name in names:
        verdict = verdicts.read(verdicts.file_of(build.folder(), f"{key}.{name}"))
        for case in verdict.cases or [] if verdict else []:
            if isinstance(case.seconds, (int, float)) and 0 <= case.seconds < 1e6:
                seconds[name] = float(case.seconds)
    return seconds


def deal(names: list[str], seconds: dict[str, float], shares: int) -> list[list[str]]:
    """The longest case first, each to the share that has the least to do; in a share,
    and among shares, the order of the program."""
    load = [(0.0, number) for number in range(min(shares, len(names)))]
    dealt: list[list[str]] = [[] for _ in load]
    for name in sorted(names, key=lambda name: -seconds.get(name, 0)):
        busy, number = heapq.heappop(load)
        dealt[number].append(name)
        # What is not known to take long goes round.
        heapq.heappush(load, (busy + seconds.get(name, 0) + 1e-3, number))
    place = {name: number for number, name in enumerate(names)}
    return sorted((sorted(share, key=place.get) for share in dealt),
                  key=lambda share: place[share[0]])


def run(command: list, shares: list[list[str]], log: Path, step, *,
        environment: dict, seconds: float) -> list[Ran]:
    """Runs the program once for each share, at the same time. Their output is put
    together in `log`."""
    # Where no share knows of the others' documents.
    with tempfile.TemporaryDirectory(prefix="learn-") as folder:
        runs = [
            steps.Run(
                [*command, filter_of(share)], Path(folder, f"{number}.log"),
                {**environment, "WB_VERDICT": f"{folder}/{number}.json"})
            for number, share in enumerate(shares)]
        results = steps.run_together(runs, step, seconds=seconds)
        ran = []
        for share, run, result in zip(shares, runs, results):
            # Below 0: who writes the verdict was ended, not what it watched.
            document = verdicts.read(Path(run.environment["WB_VERDICT"]))
            ran.append(
                Ran(share, result.status, document if result.status >= 0 else None))
    log.write_text("".join(result.text for result in results))
    return ran


def merge(ran: list[Ran], names: list[str]) -> dict | None:
    """One document of all shares; None if a case has not run and nothing says why. What
    comes in the program behind a case that has ended it is left out."""
    place = {name: number for number, name in enumerate(names)}
    last = len(names) - 1
    for share in ran:
        if not share.document:
            return None
        seen = [case.name for case in share.document.cases]
        if seen != share.names[:len(seen)]:
            return None
        if len(seen) < len(share.names):
            if share.document.ended:
                return None
            last = min(last, place[seen[-1]] if seen else -1)
    cases = [(place[case.name], case, number) for number, share in enumerate(ran)
             for case in share.document.cases]
    told = _Told()
    merged = {**ran[0].document, "ended": all(share.document.ended for share in ran)}
    merged["cases"] = [
        {**case, "findings": told.new(case.findings, number)}
        for at, case, number in sorted(cases, key=lambda case: case[0]) if at <= last]
    merged["findings"] = [
        finding for number, share in enumerate(ran)
        for finding in told.new(share.document.findings, number)]
    return merged


def write(document: dict, file: Path) -> None:
    file.write_text(json.dumps(document, indent=1))


class _Told:
    """The checker's findings so far. In one process it tells each mistake once, in the
    case that made it first. Those of two processes are the same mistake if their kind
    and places are, and as many others like it came before them there."""

    def __init__(self):
        self.first: dict[tuple, dict] = {}
        self.like_it: dict[tuple, int] = {}

    def new(self, findings: list, share: int) -> list:
        """Without those that another share has told."""
        return [finding for finding in findings if self._is_new(finding, share)]

    def _is_new(self, finding: verdicts.Record, share: int) -> bool:
        if not verdicts.is_of_checker(finding):
            return True
        fields = ("role", "file", "line", "kernel")
        places = tuple(
            tuple(map(place.get, fields)) for place in finding.places or [])
        kind = (finding.kind, finding.detail, places)
        number = self.like_it.get((share, kind), 0)
        self.like_it[share, kind] = number + 1
        first = self.first.setdefault((kind, number), finding)
        if first is not finding:
            first["times"] = first.get("times", 1) + finding.get("times", 1)
        return first is finding
