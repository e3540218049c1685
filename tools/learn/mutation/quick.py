"""For CI: a few mutants of each chapter of which book/data/mutation.json says which
test case kills them. One build, and one run for each: what does not die in it, or is
not known any more, is left to the whole procedure."""

import json

from learn import build, ui
from learn.course import Chapter
from learn.mutation import known, programs
from learn.mutation.mutant import Mutant

PATIENCE = 20  # seconds that the right kernel may take in the case


def left_over(chapters: list[Chapter], count: int) -> list[Chapter]:
    """The chapters of which it is not known that so many mutants die."""
    try:
        scores = json.loads(known.SCORES.read_text())["chapters"]
    except FileNotFoundError:
        return chapters
    found = {chapter: _prepare(chapter, scores.get(chapter.path, {}), count)
             for chapter in chapters}
    ready = [chapter for chapter in chapters if found[chapter]]
    targets = [_target(chapter) for chapter in ready]
    if ready:
        build.targets(*targets, what="the mutants", keep_going=True)
    left = [chapter for chapter in chapters if chapter not in ready]
    for chapter in ready:
        if not _die(chapter, found[chapter]):
            left.append(chapter)
    return left


def _target(chapter: Chapter) -> str:
    """The program of the mutants, not optimised: see cmake/WbMutants.cmake."""
    return f"{chapter.target}_mutants_quick"


def _prepare(chapter: Chapter, score: dict,
             count: int) -> list[tuple[Mutant, int, str]]:
    """Writes the program of the first mutants that are known; empty if too few are."""
    codes = programs.sources(chapter)
    by_key = {m.key: m for m in programs.mutants_of(codes)}
    first = [(by_key[key], version, case) for key, version, case
             in score.get("first", []) if key in by_key][:count]
    if len(first) < count:
        return []
    versions = {version for _, version, _ in first}
    programs.write(chapter, codes, [mutant for mutant, *_ in first], versions)
    return first


def _die(chapter: Chapter, first: list[tuple[Mutant, int, str]]) -> bool:
    path = build.program(_target(chapter))
    if not path:
        return False
    program = programs.Program(path)
    for mutant, version, case in first:
        outcome = program.run(
            case, mutant=mutant.number, version=version, usual=PATIENCE)
        if outcome.killed_by in ("", programs.NO_SUCH_CASE):
            ui.note(f"{chapter.label}: not killed by '{case}' any more: {mutant.key}")
            return False
    ui.say(f"{chapter.label}: {len(first)} mutants, all killed")
    return True
