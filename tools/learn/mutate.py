"""./learn dev mutate CHAPTER [--sample K] [--seed N] [--version vN] [--operator NAME]
                  [--jobs N] [--save] [--quick] [--part NAME]

For authors: do the chapter's tests notice small mistakes? Makes them by machine in
every version of the solution, runs the tests with each, and shows those that survive.
docs/mutation.md says how, and what to do about a survivor."""

import hashlib
import re
import resource
import subprocess
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

from learn import build, selection, ui
from learn.course import Chapter
from learn.mutation import known, ladder, programs, quick
from learn.mutation.hunt import Hunt, Progress, Result
from learn.mutation.mutant import Mutant
from learn.mutation.operators import OPERATORS
from learn.mutation.part import Part


def run(typed: list[str], options) -> int:
    chapters = selection.chapters(typed)
    if not chapters:
        raise ui.Stop("./learn dev mutate needs a chapter or a day.")
    build.prepare()
    if options.operator and options.operator not in OPERATORS:
        raise ui.Stop(f"The operators are: {', '.join(OPERATORS)}.")
    if options.quick:
        options.sample = options.sample or 3
    if options.part:
        chapters = [Part(chapter, options.part) for chapter in chapters]
    elif options.quick:
        chapters = quick.left_over(chapters, options.sample)
    return max([_mutate(chapter, options) for chapter in chapters], default=0)


def _mutate(chapter: Chapter | Part, options) -> int:
    began = time.monotonic()
    codes = programs.sources(chapter)
    everything = programs.mutants_of(codes)
    listed = known.equivalents(chapter)
    stale = [f"{key}: there is no such mutant" for key in listed
             if key not in {m.key for m in everything}]
    wanted = shuffled([m for m in everything if _is_wanted(m, options)], options.seed)
    if options.quick:  # what must die
        wanted = [m for m in wanted if m.key not in listed]
    # Some are no C++, or the same as what was there.
    some = wanted[: options.sample * 8 // 5 + 3] if options.sample else wanted
    spent = Spent()
    mutants, refused = programs.build_all(chapter, codes, some)
    spent.on("building")
    program = programs.Program(build.must_have_program(f"{chapter.target}_mutants"))
    versions = sorted({n for of_one in ladder.versions(codes).values() for n in of_one})
    hunt = Hunt(program, versions, options.jobs or build.jobs())
    ui.note(f"{chapter.label}: {len(mutants)} of {len(everything)} mutants,"
            f" versions {versions or 'none'}")
    hunt.trace()
    spent.on("looking")
    _tell_of_broken(hunt)
    mutants = [m for m in mutants if hunt.fits(m)]
    on_gpu = [m for m in mutants if hunt.needs_gpu(m) and m.key not in listed]
    mutants = [m for m in mutants if m not in on_gpu]
    mutants = mutants[: options.sample] if options.sample else mutants
    results = hunt.hunt(mutants, Progress(len(mutants)))
    spent.on("hunting")
    if any(not r.killed_by and r.ran for r in results):
        target = f"{chapter.target}_mutants_checked"
        build.must_build(target, what=f"the checked mutants of {chapter.name}")
        hunt.check(results, programs.Program(build.must_have_program(target), True))
        spent.on("checking")
    ui.note(f"Seconds of a processor: {spent}")
    stale += [f"{r.mutant.key}: {r.killer} rejects it" for r in results
              if r.killed_by and r.mutant.key in listed]
    return _report(Report(
        chapter, len(everything), results, len(refused), len(on_gpu), stale, listed,
        time.monotonic() - began), options)


class Spent:
    """Seconds of a processor that each part took."""

    def __init__(self):
        self.parts: dict[str, float] = {}
        self.before = self._all()

    @staticmethod
    def _all() -> float:
        return sum(sum(resource.getrusage(who)[:2]) for who in (
            resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

    def on(self, part: str) -> None:
        now = self._all()
        self.parts[part] = now - self.before
        self.before = now

    def __str__(self):
        return ", ".join(f"{part} {time:.0f}" for part, time in self.parts.items())


def _is_wanted(mutant: Mutant, options) -> bool:
    version = re.sub("^v", "", options.version or "")
    return (not version or str(mutant.function.version) == version) and (
        not options.operator or mutant.operator == options.operator)


def shuffled(mutants: list[Mutant], seed: int) -> list[Mutant]:
    """An order that the seed decides: of each operator one in turn. What else there is
    does not change which of two mutants comes first."""
    def place(text: str) -> str:
        return hashlib.sha256(f"{seed} {text}".encode()).hexdigest()

    groups = defaultdict(list)
    for mutant in sorted(mutants, key=lambda m: place(m.key)):
        groups[mutant.operator].append(mutant)
    ordered = [(index, place(name), mutant) for name, group in groups.items()
               for index, mutant in enumerate(group)]
    return [mutant for *_, mutant in sorted(ordered, key=lambda item: item[:2])]


def _tell_of_broken(hunt: Hunt) -> None:
    for run in sorted(hunt.long):
        ui.note(f"takes too long, and is left out: {run}")
    for run in sorted(hunt.broken):
        ui.warn(f"fails without a mutant, and is left out: {run}")
    if not hunt.seen:
        raise ui.Stop("No test case passes with the woven solution.")


class Report(NamedTuple):
    chapter: Chapter | Part
    total: int  # mutants that can be made
    results: list[Result]
    refused: int  # that are no C++
    on_gpu: int  # that only a GPU can judge
    stale: list[str]  # what is wrong with the list of equivalent ones
    listed: dict[str, str]
    seconds: float


def _report(report: Report, options) -> int:
    chapter, total, results, refused, on_gpu, stale, listed, seconds = report
    survivors = [r for r in results if not r.killed_by]
    known_ones = [r for r in survivors if r.mutant.key in listed]
    equivalent = [r for r in known_ones
                  if not listed[r.mutant.key].startswith(known.GPU)]
    on_gpu += len(known_ones) - len(equivalent)
    tried = len(results) - (len(known_ones) - len(equivalent))
    alive = [r for r in survivors if r.mutant.key not in listed]
    for result in sorted(alive, key=lambda r: (r.mutant.code.path, r.mutant.line)):
        _show(result)
    for line in stale:
        ui.complain(f"{known.file_of(chapter)} is out of date: {line}")
    killed = len(results) - len(survivors)
    judged = killed + len(alive)
    score = 100 * killed / judged if judged else 100.0
    ways = Counter(r.killed_by for r in results if r.killed_by)
    ui.say(f"{chapter.label}: {tried} tried of {total}, {killed} killed,"
           f" {len(equivalent)} equivalent, {len(alive)} survive; score {score:.1f} %"
           f" (seed {options.seed}; {refused} more are no C++, {on_gpu} need a GPU;"
           f" {seconds:.0f} s)")
    ui.say("  killed by " + ", ".join(f"{k} {n}" for k, n in ways.most_common()))
    by_operator = Counter(r.mutant.operator for r in alive)
    if by_operator:
        ui.say("  alive: " + ", ".join(
            f"{k} {n}" for k, n in by_operator.most_common()))
    if options.save:
        known.save(chapter, {
            "mutants": total, "tried": tried, "killed": killed,
            "equivalent": len(equivalent), "survivors": len(alive),
            "need_gpu": on_gpu,
            "score": round(score, 1), "seed": options.seed,
            "sample": options.sample or "all",
            "solution": _tree("solutions", chapter), "tests": _tree("tests", chapter),
            "first": [[r.mutant.key, r.killer.version, r.killer.case]
                      for r in results if r.killed_by and not r.is_checkers][:6]})
    return 1 if alive or stale else 0


def _show(result: Result) -> None:
    mutant = result.mutant
    ui.say(f"\n{mutant.key}")
    ui.say(f"  {Path(mutant.code.path)}:{mutant.line}")
    old, new = mutant.changed_line()
    for line in old:
        ui.say(f"  - {line.strip()}")
    for line in new:
        ui.say(f"  + {line.strip()}")
    if not result.is_reached:
        ui.say("  not covered: no test case reaches it")
    elif not result.ran:
        ui.say("  reached, but it makes no difference in any test case")
    else:
        ui.say("  passes: " + "; ".join(map(str, sorted(result.ran)[:8])) + (
            f"; and {len(result.ran) - 8} more" if len(result.ran) > 8 else ""))


def _tree(root: str, chapter: Chapter | Part) -> str:
    """Git's name of what is committed in a folder, whatever the commit is called."""
    answer = subprocess.run(
        ["git", "rev-parse", "--short=12", f"HEAD:{root}/{chapter.path}"],
        capture_output=True, text=True)
    return answer.stdout.strip()
