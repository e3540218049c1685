"""The source files that a report quotes, and where their functions are."""

import re
from bisect import bisect_right
from functools import cache
from typing import NamedTuple

# What is no code: comments, literals, preprocessor lines.
NO_CODE = re.compile(
    r"""//[^\n]* | /\*.*?(?:\*/|\Z)
    | ^[ \t]*\#(?:[^\n\\]|\\.)*
    | "(?:\\.|[^"\\\n])*["\n]? | (?<![A-Za-z0-9])'(?:\\.|[^'\\\n])*['\n]?""",
    re.DOTALL | re.MULTILINE | re.VERBOSE)
SCOPE = re.compile(r"\b(namespace|class|struct|union|extern)\b")


class Function(NamedTuple):
    """A function's lines, from its first word to its closing brace."""

    first: int
    last: int
    head: str  # what stands before the body


class SourceFile:
    """One file; lines count from 1. A file that is not there has no lines."""

    def __init__(self, path: str) -> None:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            text = ""
        self._lines = text.split("\n")
        self.functions = list(functions(text))

    def line(self, number: int) -> str:
        """ "" outside of the file."""
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    def function_at(self, line: int) -> Function | None:
        return next((f for f in self.functions if f.first <= line <= f.last), None)

    def function_named(self, name: str) -> Function | None:
        """Template arguments left out. A kernel of that name wins over a host function
        that shares it."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        named = [f for f in self.functions if word.search(f.head.rpartition(")")[0])]
        kernels = [f for f in named if re.search(r"\b__global__\b", f.head)]
        return next(iter(kernels or named), None)


@cache
def source(path: str) -> SourceFile:
    """Reads each file once."""
    return SourceFile(path)


def quote(place) -> str:
    """The text of a line without the blanks around it; "" if it is unknown."""
    return source(place.file).line(place.line).strip()


def base_name(kernel: str) -> str:
    """ "transpose_tiled" of "ns::transpose_tiled<32, float>"."""
    return re.split("[<(]", kernel)[0].rpartition("::")[2].rpartition(" ")[2]


def functions(text: str):
    """The functions that a file defines, without what lies in their bodies."""
    code = NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    ends = [match.start() for match in re.finditer("\n", code)]
    start = at = 0  # of the present declaration; where we are
    while stop := re.compile("[;{}]").search(code, at):
        head = code[start:stop.start()].lstrip()
        at = stop.end()
        declares = "(" not in head and SCOPE.search(head)
        if stop[0] == "{" and not declares:
            at = _closing(code, at)
            if ")" in head:
                first = bisect_right(ends, stop.start() - len(head)) + 1
                yield Function(first, bisect_right(ends, at - 1) + 1, head)
        start = at


def _closing(code: str, at: int) -> int:
    """Behind the brace that closes the one before `at`."""
    depth = 1
    for brace in re.compile("[{}]").finditer(code, at):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return len(code)
