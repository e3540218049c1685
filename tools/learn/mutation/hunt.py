"""Which test cases reach a mutant, and which reject it.

First each case runs once for each version of the solution, without a mutant, and notes
where it comes by: at which places a mutant's value would differ from the right one. A
case where none differs cannot reject the mutant, and need not run for it."""

import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from learn import ui
from learn.mutation.mutant import Mutant
from learn.mutation.programs import Program

REACHED, DIFFERS, MISFIT = 1, 2, 4  # as in mutant.h
CHECKED = 48
"""Cases that the checker sees of a mutant, the cheapest: it finds what a run does wrong
even where the result is right, but is slow."""


class Run(NamedTuple):
    """A test case, with a version of the solution."""

    version: int
    case: str

    def __str__(self):
        return f"v{self.version}: {self.case}" if self.version else self.case


@dataclass
class Result:
    mutant: Mutant
    killed_by: str = ""  # "wrong_result", "race", "time", ...
    killer: Run | None = None
    is_reached: bool = False
    ran: list[Run] = field(default_factory=list)
    is_checkers: bool = False  # the tests alone pass


class Hunt:
    def __init__(self, program: Program, versions: list[int], jobs: int):
        self.program, self.versions = program, versions or [0]
        self.jobs = jobs
        self.seconds: dict[Run, float] = {}
        self.seen: dict[Run, bytes] = {}
        self.broken: list[Run] = []  # that fail without a mutant
        self.long: list[Run] = []  # that take too long
        self.skipped: set[str] = set()  # cases that only a GPU can run
        self.tries, self.kills = Counter(), Counter()
        self.clean: dict[Run, bool] = {}
        self.lock = threading.Lock()

    def trace(self) -> None:
        """Runs all cases without a mutant."""
        runs = [Run(v, c) for v in self.versions for c in self.program.cases()]

        def one(run: Run) -> None:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder, "trace")
                outcome = self.program.run(run.case, version=run.version, trace=file)
                seen = file.read_bytes() if file.exists() else b""
            with self.lock:
                self.seconds[run] = outcome.seconds
                if outcome.is_skipped:
                    self.skipped.add(run.case)
                if outcome.is_long:
                    self.long.append(run)
                elif outcome.killed_by:
                    self.broken.append(run)
                else:
                    self.seen[run] = seen

        with ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(one, runs))

    def has(self, mutant: Mutant, run: Run, what: int) -> bool:
        seen = self.seen[run]
        return bool(seen) and bool(seen[mutant.number] & what)

    def fits(self, mutant: Mutant) -> bool:
        """False if its types make it the same as what was there."""
        flags = [self.seen[run][mutant.number] for run in self.seen if self.seen[run]]
        return not any(f & MISFIT for f in flags) or any(f & DIFFERS for f in flags)

    def needs_gpu(self, mutant: Mutant) -> bool:
        """Does it take more than 2^31 elements to see a difference, and is there a test
        that asks a GPU for as much as the simulator has not?"""
        return mutant.operator == "narrow" and bool(self.skipped) and not any(
            self.has(mutant, run, DIFFERS) for run in self.seen)

    def hunt(self, mutants: list[Mutant], tell=None) -> list[Result]:
        """Runs each mutant until a case rejects it."""
        results = [Result(m) for m in mutants]

        def one(result: Result) -> None:
            self.try_plain(result)
            if tell:
                tell(result)

        with ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(one, results))
        return results

    def try_plain(self, result: Result) -> None:
        mutant = result.mutant
        result.is_reached = any(self.has(mutant, run, REACHED) for run in self.seen)
        runs = [run for run in self.seen if self.has(mutant, run, DIFFERS)]
        while runs:
            run = min(runs, key=self.cost)
            runs.remove(run)
            outcome = self.program.run(
                run.case, mutant=mutant.number, version=run.version,
                usual=self.seconds[run])
            result.ran.append(run)
            with self.lock:
                self.tries[run] += 1
                if outcome.killed_by:
                    self.kills[run] += 1
            if outcome.killed_by:
                result.killed_by, result.killer = outcome.killed_by, run
                return

    def cost(self, run: Run) -> float:
        """The seconds that a kill takes with this case, as far as one knows."""
        rate = (self.kills[run] + 0.5) / (self.tries[run] + 1)
        return self.seconds[run] / rate

    def check(self, results: list[Result], program: Program) -> None:
        """Runs what has survived once more under the checker."""
        def one(result: Result) -> None:
            cheapest = sorted(result.ran, key=lambda run: self.seconds[run])
            for run in cheapest[:CHECKED]:
                outcome = program.run(
                    run.case, mutant=result.mutant.number, version=run.version,
                    usual=20 * self.seconds[run])
                # It has ended without the checker, which is slow.
                if outcome.killed_by in ("", "time"):
                    continue
                if self.is_clean(program, run):
                    result.killed_by = f"checker: {outcome.killed_by}"
                    result.killer, result.is_checkers = run, True
                    return

        with ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(one, [r for r in results if not r.killed_by]))

    def is_clean(self, program: Program, run: Run) -> bool:
        """Does the checker find nothing without a mutant?"""
        if run not in self.clean:
            self.clean[run] = not program.run(
                run.case, version=run.version, usual=20 * self.seconds[run]).killed_by
        return self.clean[run]


class Progress:
    """A line now and then."""

    def __init__(self, total: int):
        self.total, self.done, self.killed = total, 0, 0
        self.last = time.monotonic()
        self.lock = threading.Lock()

    def __call__(self, result: Result) -> None:
        with self.lock:
            self.done += 1
            self.killed += bool(result.killed_by)
            if time.monotonic() - self.last > 15:
                self.last = time.monotonic()
                ui.note(f"{self.done} of {self.total} tried, {self.killed} killed")
