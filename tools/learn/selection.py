"""From what the learner typed to chapters. Accepted for chapter 2 of day 1:

    vector_add  vector-add  02-vector-add  day01/02-vector-add  1/vector_add
    day01.vector_add (as ctest says it)  a path to its folder or to one of its files

and for all of day 1:  day01  day1  1  01  day01-basics
"""

import difflib
import os
import re

from learn import course, ui
from learn.course import Chapter

DAY = re.compile(r"day0*(\d{1,3})(?:-[a-z-]*)?|0*(\d{1,3})")
WITHIN_DAY = re.compile(r"(?:day0*(\d{1,3})(?:_[a-z_]*)?|0*(\d{1,3}))[/.](.+)")


def add_fast(parser) -> None:
    """The option of all commands that can be about a second stage."""
    parser.add_argument("--fast", action="store_true")


def chapters(typed: list[str], fast: bool = False) -> list[Chapter]:
    """All that the arguments name; with `fast`, their second stages. Raises Stop when
    one of them names nothing."""
    everything = course.load()
    found = [chapter for text in typed for chapter in _find(text, everything)]
    return _faster(found) if fast else found


def _faster(chosen: list[Chapter]) -> list[Chapter]:
    stages = [c if c.is_faster else c.faster for c in chosen]
    if not any(stages):
        labels = ", ".join(chapter.label for chapter in chosen)
        raise ui.Stop(f"There is no second stage, \"Go faster\", of {labels}.")
    return [stage for stage in stages if stage]


def single(typed: list[str], fast: bool = False) -> Chapter:
    """Exactly one chapter; without an argument the next one."""
    if len(typed) > 1:
        raise ui.Stop(f"One chapter at a time, please: {' '.join(typed)}")
    if not typed:
        everything = course.load()
        if fast:
            everything = [c.faster for c in everything if c.faster and c.has_passed()]
            if not everything:
                raise ui.Stop(
                    "No chapter with a second stage has passed yet; name one, for"
                    " example: ./learn check transpose --fast")
        return course.first_unpassed(everything) or everything[-1]
    found = chapters(typed, fast)
    if len(found) != 1:
        raise ui.Stop(
            f"'{typed[0]}' is a whole day; name one of its chapters, for example"
            f" {found[0].name}.")
    return found[0]


def similar(word: str, words: list[str]) -> list[str]:
    """Of the words, up to three that contain it, are contained in it or look like
    it."""
    word = word.lower().replace("-", "_")
    rated = []
    for candidate in words:
        closeness = max(
            difflib.SequenceMatcher(None, word, part).ratio()
            for part in (candidate, *candidate.split("_")))
        if len(word) > 2 and (word in candidate or candidate in word):
            closeness = 0.95
        rated.append((closeness, candidate))
    best = max(rated)[0] if rated else 0
    near = [pair for pair in rated if pair[0] > 0.6 and pair[0] > best - 0.15]
    return [candidate for _, candidate in sorted(near, key=lambda p: -p[0])[:3]]


def _find(typed: str, everything: list[Chapter]) -> list[Chapter]:
    wanted = _path_in_checkout(typed)
    if day := DAY.fullmatch(wanted):
        return _whole_day(typed, int(day[1] or day[2]), everything)
    everything = everything + [c.faster for c in everything if c.faster]
    found = [chapter for chapter in everything if _names(wanted, chapter)]
    first = [chapter for chapter in found if not chapter.is_faster]
    found = first or found  # a folder, a number name both stages
    if len(found) > 1:
        labels = " ".join(chapter.label for chapter in found)
        raise ui.Stop(
            f"'{typed}' is the name of several chapters; say which: {labels}.")
    if not found:
        _unknown(typed, everything)
    return found


def _path_in_checkout(typed: str) -> str:
    """A path becomes its chapter's folder in the checkout; all else stays as typed."""
    wanted = typed.removesuffix("/")
    if "/" not in wanted and wanted != "." and not wanted.endswith(".cu"):
        return wanted
    full = ui.Settings.invoked_from / wanted
    if not full.exists() and os.path.exists(wanted):
        full = ui.ROOT / wanted
    if full.exists():
        full = full.resolve()
        wanted = os.path.relpath(full.parent if full.is_file() else full, ui.ROOT)
    return re.sub(r"^(solutions|tests)/", "", wanted)


def _names(wanted: str, chapter: Chapter) -> bool:
    """Does the text name the chapter?"""
    wanted = wanted.replace("-", "_").removesuffix(".cu")
    folder = chapter.folder.replace("-", "_")
    if parts := WITHIN_DAY.fullmatch(wanted):
        if int(parts[1] or parts[2]) != chapter.day_number:
            return False
        wanted = parts[3]
        # Within a day the number is enough: 1/2, day01/02.
        if wanted.isdigit() and int(wanted) == chapter.number:
            return True
    return wanted in (chapter.name, folder, chapter.target)


def _whole_day(typed: str, number: int, everything: list[Chapter]) -> list[Chapter]:
    found = [chapter for chapter in everything if chapter.day_number == number]
    if found:
        return found
    here = " ".join(dict.fromkeys(chapter.day for chapter in everything))
    if 1 <= number < len(course.DAY_TITLES):
        raise ui.Stop(
            f"Day {number} ({course.DAY_TITLES[number]}) is not written yet; here so"
            f" far: {here}.")
    raise ui.Stop(
        f"There is no day '{typed}': Warpbook has seven days; here so far: {here}.")


def _unknown(typed: str, everything: list[Chapter]) -> None:
    near = similar(typed.rpartition("/")[2], [chapter.name for chapter in everything])
    if near:
        raise ui.Stop(
            f"There is no chapter '{typed}'. Did you mean: {', '.join(near)}?"
            " (./learn map lists them all.)")
    raise ui.Stop(f"There is no chapter '{typed}'; ./learn map lists them all.")
