"""A file of a chapter's solution with a contract and tests of its own, which the
chapter's other tests do not run: 06/08's v6 and v7. `--part NAME` names NAME.cu; CMake
has the programs day06_NAME_mutants."""

from dataclasses import dataclass

from learn.course import Chapter


@dataclass(frozen=True)
class Part:
    """What mutate.py asks of a chapter."""

    chapter: Chapter
    name: str

    @property
    def path(self) -> str:
        return self.chapter.path

    @property
    def key(self) -> str:
        """The name among the scores, and of the folder of the woven text."""
        return f"{self.path}/{self.name}"

    @property
    def target(self) -> str:
        return f"{self.chapter.day}_{self.name}"

    @property
    def label(self) -> str:
        return f"{self.chapter.label}, {self.name}"


def key_of(chapter: Chapter | Part) -> str:
    return chapter.key if isinstance(chapter, Part) else chapter.path
