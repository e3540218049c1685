"""From a failed build to what the learner should read: the first error, with their own
file and line, as g++, clang++ and nvcc put it.

An error starts at "path:12:5: error:" (g++, clang++), "path(12): error" (nvcc) or a
linker's "undefined reference"; notes, excerpts and carets follow until the next error
or warning."""

import re
from typing import NamedTuple

from learn import ui

SHOWN_LINES = 15

ERROR = re.compile(
    r"\S+:\d+:(\d+:)? (fatal )?error:|\S+\(\d+\): (catastrophic )?error"
    r"|.*(undefined reference to|multiple definition of)")
LINK_ERROR = re.compile(r".*(?:undefined reference to|multiple definition of) .(.*)")
BOUNDARY = re.compile(
    r"\S+:\d+:(\d+:)? warning:|\S+\(\d+\): warning|\d+ errors? (generated|detected)"
    r"|collect2|compilation terminated|Consider |.*: in function |\s*$")
# Names that the workbook itself must define: if one of them is undefined, the fault is
# not the learner's. Any other is: the contract in the chapter's header is theirs.
WORKBOOK_NAME = re.compile(r"simt::|wb::|Catch::|cuda|cublas|__")


class Error(NamedTuple):
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines[:SHOWN_LINES])

    @property
    def is_of_linker(self) -> bool:
        return bool(LINK_ERROR.match(self.lines[0]))

    def is_learners(self, file: str) -> bool:
        """Does it lie in the learner's file?"""
        if name := LINK_ERROR.match(self.lines[0]):
            return not WORKBOOK_NAME.match(name[1])
        return any(file in line for line in self.lines)


def compilers_text(log: str) -> str:
    """What the compilers said in a build: without ninja's own lines (status, "FAILED:",
    the command after it, "ninja: ..."), with relative paths."""
    lines, skip = [], False
    for line in ui.relative(log).split("\n"):
        if skip or re.match(r"\[\d+/\d+\]|ninja: ", line):
            skip = False
        elif line.startswith("FAILED: "):
            skip = True  # the next line is the command that failed
        else:
            lines.append(line)
    return "\n".join(lines)


def errors(log: str) -> list[Error]:
    """All errors in a build's log."""
    found: list[list[str]] = []
    is_open = False
    for line in compilers_text(log).split("\n"):
        if ERROR.match(line) and not line.startswith("collect2"):
            found.append([])
            is_open = True
            line = line.removeprefix("/usr/bin/ld: ")
        elif BOUNDARY.match(line):
            is_open = False
        if is_open:
            found[-1].append(line)
    return [Error(tuple(lines)) for lines in found]


def first(log: str, file: str = "") -> Error | None:
    """The first error in the learner's file; else the first one."""
    everything = errors(log)
    mine = (error for error in everything if file and error.is_learners(file))
    return next(mine, everything[0] if everything else None)


def warnings(log: str, file: str) -> list[str]:
    """The warnings in the learner's file, first lines only."""
    lines = compilers_text(log).split("\n")
    return [line for line in lines if file in line and "warning" in line][:5]


def in_words(log: str, file: str = "") -> str:
    """The first error; if no compiler spoke, what the build tool said last."""
    error = first(log, file)
    return str(error) if error else "\n".join(ui.relative(log).strip().split("\n")[-5:])
