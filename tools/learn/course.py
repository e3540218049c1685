"""What the course consists of. The folders say it: a chapter is a folder with a
solution, and it is named after that folder (02-vector-add is vector_add)."""

import re
from pathlib import Path
from typing import NamedTuple

from learn import progress, ui

DAY_TITLES = (
    "", "basics: a kernel that is right",
    "memory: moving bytes at the speed of the wire",
    "parallel patterns: threads that agree",
    "GEMM: one operation, every level of the machine", "quantization: fewer bytes",
    "LLM attention: attention as it is served", "tuning: knowing why, not guessing")
"""The seven days; one whose folder does not exist yet is shown as such on the map."""


class Chapter(NamedTuple):
    """One chapter, with the names under which CMake, CTest and sentences know it."""

    day: str  # day01
    path: str  # day01-basics/02-vector-add
    name: str  # vector_add; of its second stage, vector_add_fast
    is_faster: bool = False

    @property
    def folder(self) -> str:
        """02-vector-add"""
        return self.path.rpartition("/")[2]

    @property
    def number(self) -> int:
        return int(self.folder.partition("-")[0])

    @property
    def day_number(self) -> int:
        return int(self.day[3:])

    @property
    def file(self) -> str:
        """The learner's file."""
        return f"{self.path}/{self.name}.cu"

    @property
    def solution(self) -> str:
        return f"solutions/{self.file}"

    @property
    def key(self) -> str:
        """day01.vector_add: CTest's name, and the one in the progress file."""
        return f"{self.day}.{self.name}"

    @property
    def target(self) -> str:
        """day01_vector_add: CMake's name."""
        return f"{self.day}_{self.name}"

    @property
    def label(self) -> str:
        """day01/02-vector-add: for sentences."""
        return f"{self.day}/{self.folder}" + (", faster" if self.is_faster else "")

    @property
    def hints(self) -> Path:
        return Path(self.path, "hints_fast.md" if self.is_faster else "hints.md")

    @property
    def faster(self) -> "Chapter | None":
        """The second stage, "Go faster": another file under the same tests."""
        stage = self._replace(name=f"{self.name}_fast", is_faster=True)
        return stage if Path(stage.solution).is_file() else None

    @property
    def first_stage(self) -> "Chapter":
        name = self.name.removesuffix("_fast") if self.is_faster else self.name
        return self._replace(name=name, is_faster=False)

    def has_passed(self) -> bool:
        return progress.read(self.key).has_passed


def load() -> list[Chapter]:
    """All chapters in course order."""
    chapters = []
    # What lies beside a solution may have any name, and the learner's own file may have
    # been renamed: only the solution counts.
    for folder in sorted(Path("solutions").glob("day[0-9][0-9]-*/[0-9][0-9]-*/")):
        name = re.sub(r"^\d+-", "", folder.name).replace("-", "_")
        if (folder / f"{name}.cu").is_file():
            day_folder = folder.parent.name
            path = f"{day_folder}/{folder.name}"
            chapters.append(Chapter(day_folder.partition("-")[0], path, name))
    if not chapters:
        raise ui.Stop(
            f"No chapter was found in {ui.ROOT}: this checkout is incomplete. Clone the"
            " repository again.")
    return chapters


def first_unpassed(chapters: list[Chapter]) -> Chapter | None:
    """The first chapter that has never passed."""
    return next((c for c in chapters if not c.has_passed()), None)
