#!/usr/bin/env python3
"""Every chapter has all its parts, and they belong together.

    tools/dev_check.py [--committed] [CHECKOUT]

    --committed  also: the starters in git's last commit are what the solutions in it
                 give. For CI: a learner may commit what they like.

A learner's own file is never looked at: what the lesson shows of it, and its TODOs, are
looked for in the starter that the solution gives.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import markers
from learn import ladders

FEWEST_MUTANTS = 5
SECTIONS = (
    "Why this matters", "The picture", "The idea", "Worked numbers", "The contract",
    "Your turn", "Check", "Hints", "Measured", "Find the bug",
    "What would you try next?")


class Checker:
    """Looks at one checkout, which is the current folder, and prints the problems."""

    def __init__(self, committed: bool):
        self.committed = committed
        self.problems = 0

    def problem(self, file, text: str) -> None:
        self.problems += 1
        print(f"{file}: {text}")

    def check(self) -> int:
        """The exit status."""
        folders = sorted(Path().glob("day[0-9][0-9]-*/[0-9][0-9]-*/"))
        for folder in folders:
            self.check_chapter(folder, folder.name.partition("-")[2].replace("-", "_"))
        self.check_list([str(folder) for folder in folders])
        print(f"{len(folders)} chapters, {self.problems} problems")
        return 0 if folders and not self.problems else 1

    def check_chapter(self, folder: Path, name: str) -> None:
        solution = Path("solutions", folder, f"{name}.cu")
        tests = Path("tests", folder)
        before = self.problems
        for part in (folder / "lesson.md", folder / "hints.md", folder / f"{name}.h",
                     folder / f"{name}.cu", solution, tests / f"{name}_test.cpp",
                     tests / f"{name}_bench.cpp"):
            if not part.is_file() or not part.stat().st_size:
                self.problem(part, "missing or empty")
        if self.problems > before:
            return
        self.check_author(folder, tests, solution)
        self.check_starter(solution)
        self.check_ladders(solution.parent)
        if self.committed:
            self.check_committed(folder / f"{name}.cu", solution)
        self.check_second_stage(folder, name)
        self.check_hints(folder / "hints.md")
        self.check_lesson(folder)
        cases = sorted(tests.glob(f"{name}*_test.cpp"))
        self.check_mutants(
            tests / "mutants", "".join(file.read_text() for file in cases))

    def check_second_stage(self, folder: Path, name: str) -> None:
        """Of a chapter that has one: "Go faster"."""
        solution = Path("solutions", folder, f"{name}_fast.cu")
        if not solution.is_file():
            return
        file, hints = folder / f"{name}_fast.cu", folder / "hints_fast.md"
        for part in (file, hints):
            if not part.is_file():
                self.problem(part, "missing")
                return
        self.check_starter(solution)
        if self.committed:
            self.check_committed(file, solution)
        self.check_hints(hints)
        lesson = folder / "lesson.md"
        if "## Go faster" not in lesson.read_text().split("\n"):
            self.problem(lesson, 'has no section "Go faster"')

    def check_author(self, folder: Path, tests: Path, solution: Path) -> None:
        """What ./learn dev new-chapter left for the author to write."""
        for file in [*sorted(folder.glob("*.[mh]*")), solution,
                     *sorted(path for path in tests.rglob("*") if path.is_file())]:
            for number, line in enumerate(
                    file.read_text(errors="replace").split("\n"), 1):
                if "TODO(author)" in line:
                    self.problem(f"{file}:{number}", line.strip(" /#"))

    def check_starter(self, solution: Path) -> None:
        try:
            starter = markers.starter_of(solution.read_text())
        except markers.MarkerError as error:
            self.problem(solution, f"gives no starter: {error}")
            return
        for mark in ("TODO(learner)", "WB_NOT_SOLVED()"):
            if mark not in starter:
                self.problem(solution, f"its starter has no {mark}")

    def check_ladders(self, folder: Path) -> None:
        for file in sorted(folder.glob("*.cu")):
            try:
                if ladders.filled(file) != file.read_text():
                    self.problem(file, "its ladder is stale: ./learn dev ladders")
            except ladders.LadderError as error:
                self.problem(file, str(error))

    def check_committed(self, file: Path, solution: Path) -> None:
        texts = []
        for path in (file, solution):
            shown = subprocess.run(
                ["git", "show", f"HEAD:./{path}"], capture_output=True, text=True)
            if shown.returncode:
                self.problem(path, "is not committed")
                return
            texts.append(shown.stdout)
        try:
            if texts[0] == markers.starter_of(texts[1]):
                return
        except markers.MarkerError:
            pass
        self.problem(file, f"as committed, is not what {solution} gives")

    def check_hints(self, file: Path) -> None:
        parts = re.split(r"^## Hint (.*)$", file.read_text(), flags=re.MULTILINE)[1:]
        if parts[::2] != ["1", "2", "3"] or not all(map(str.strip, parts[1::2])):
            self.problem(
                file, "must have ## Hint 1, ## Hint 2 and ## Hint 3, each with a text")

    def check_lesson(self, folder: Path) -> None:
        """Its sections, and all that it includes."""
        lesson = folder / "lesson.md"
        text = lesson.read_text()
        for section in SECTIONS:
            if f"## {section}" not in text.split("\n"):
                self.problem(lesson, f'has no section "{section}"')
        for shown in re.findall(r"^<<< (.*?)(?:\{.*)?$", text, re.MULTILINE):
            path, _, region = shown.partition("#")
            place = path[2:] if path.startswith("@/") else folder / path
            try:
                markers.shown(os.path.normpath(place), region)
            except OSError:
                self.problem(lesson, f"includes {shown}, a file that does not exist")
            except markers.MarkerError as error:
                self.problem(lesson, f"includes {shown}, but {error}")
        for path in re.findall(r"^<!--@include: *(\S+) *-->$", text, re.MULTILINE):
            if not (folder / path).is_file():
                self.problem(lesson, f"includes {path}, a file that does not exist")

    def check_mutants(self, folder: Path, tests: str) -> None:
        # Those of orders/ and sim/ are built for the simulator only; those of goals/
        # are right, but slow. right*.cu is what edits (.diff) are made to.
        number = 0
        for place in ("", "orders", "sim", "goals"):
            for mutant in sorted((folder / place).glob("*.*")):
                if mutant.suffix not in (".cu", ".diff") or mutant.match("right*.cu"):
                    continue
                number += place != "goals"
                self.check_mutant(mutant, tests)
        if number < FEWEST_MUTANTS:
            few = f"{number} mutants, at least {FEWEST_MUTANTS} are wanted"
            self.problem(folder, few)

    def check_mutant(self, mutant: Path, tests: str) -> None:
        mark = "#" if mutant.suffix == ".diff" else "//"
        first, *lines = mutant.read_text().split("\n")
        if not re.match(rf"{mark} (?!Rejected (?:by|as):|Edits:|Of:)[^ ]", first):
            self.problem(mutant, f'has no first line "{mark} what is wrong"')
        start = f"{mark} Rejected by: "
        named = [line.removeprefix(start) for line in lines if line.startswith(start)]
        if not named:
            self.problem(mutant, f'has no line "{start}test case"')
        elif f'"{named[0]}"' not in tests:
            self.problem(mutant, f'is rejected by "{named[0]}", which is no test case')

    def check_list(self, found: list[str]) -> None:
        """CMakeLists.txt has as many lines wb_chapter(PATH), in this order."""
        text = Path("CMakeLists.txt").read_text()
        declared = re.findall(r"^wb_chapter\(([^ )]*)", text, re.MULTILINE)
        if declared != found:
            self.problem(
                "CMakeLists.txt",
                "its wb_chapter() lines are not the chapters in order:"
            )
            for path in sorted(set(declared) ^ set(found)):
                print(f"    {path}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="dev_check.py")
    parser.add_argument("--committed", action="store_true")
    parser.add_argument("checkout", nargs="?", default=Path(__file__).parents[1])
    options = parser.parse_args()
    os.chdir(options.checkout)
    return Checker(options.committed).check()


if __name__ == "__main__":
    sys.exit(main())
