"""What is left to write in a chapter of several functions, of which some are written.

A starter's TODO belongs to the function whose body it stands in; in a kernel, to the
function that the kernel is named after, or that has its version. What belongs to no
function, as a helper of several, is always left. A function whose WB_NOT_SOLVED() has
gone is written: were it wrong, the chapter would be called that, and not unsolved. Of a
kernel, only a verdict can tell, for some launchers never had such a line.
"""

import re
from pathlib import Path
from typing import NamedTuple

from learn import grade, lint


class _Function(NamedTuple):
    begin: int  # its first line, and the last
    end: int
    name: str
    is_right: bool
    waits: bool  # for WB_NOT_SOLVED() to be deleted


def words(result: grade.Grade) -> str:
    """The sentence for the learner; "" if the test has said it already: all TODOs are
    left."""
    text = Path(result.chapter.file).read_text(errors="replace")
    names = {*result.functions, *grade.contract_names(result.chapter)}
    functions = list(_functions(text, names, result.functions))
    todos = _lines_with(text, "TODO(learner)")
    left = [line for line in todos if _is_left(text, line, functions)]
    marks = [line for line in _lines_with(lint.code_of(text), "WB_NOT_SOLVED(")
             if _is_left(text, line, functions)]
    if len(left) in (0, len(todos)) or not marks:
        return ""
    file = result.chapter.file
    return (f"not solved yet: write the TODO in {file}:{', '.join(map(str, left))},"
            f" then delete WB_NOT_SOLVED() in {file}:{marks[0]}")


def empty(file: str) -> list[int]:
    """The lines of TODOs below which nothing stands until the end of the block."""
    found = re.finditer(r"^ *// TODO\(learner\).*\n(?: *//.*\n|\s*\n)* *\}",
                        text := Path(file).read_text(errors="replace"), re.M)
    return [text.count("\n", 0, match.start()) + 1 for match in found]


def _lines_with(text: str, what: str) -> list[int]:
    return [number for number, line in enumerate(text.split("\n"), 1) if what in line]


def _functions(text: str, names: set[str], graded: dict[str, str]):
    """Those of these names that are defined in the text. A version may have left out
    words at its beginning: attention_v1 is flash_attention_v1."""
    for name in names:
        words_of_it = name.split("_")
        shorter = range(max(1, len(words_of_it) - 1) if name in graded else 1)
        found = (_definition(text, "_".join(words_of_it[at:])) for at in shorter)
        if definition := next(filter(None, found), None):
            begin, end = (text.count("\n", 0, at) + 1 for at in definition.span())
            yield _Function(begin, end, name, graded.get(name) in ("passed", "open"),
                            "WB_NOT_SOLVED(" in lint.code_of(definition[0]))


def _definition(text: str, name: str) -> re.Match | None:
    return re.search(
        rf"^[A-Za-z][^;{{}}()#/]*\b{name}\([^;{{]*\) \{{$.*?^\}}", text,
        re.MULTILINE | re.DOTALL)


def _owner(text: str, line: int, functions: list[_Function]) -> _Function | None:
    above = "\n".join(text.split("\n")[:line])
    heads = re.findall(r"^[A-Za-z_][^;{}#/]*?\b([a-z]\w*)\(", above, re.MULTILINE)
    kernel = heads[-1] if heads else ""
    version = re.search(r"_v\d+", kernel)
    namesakes = [f for f in functions if f.begin <= line <= f.end
                 or kernel.startswith(f.name + "_")
                 or version and f.name.endswith(version[0])]
    return max(namesakes, key=lambda f: len(f.name), default=None)


def _is_left(text: str, line: int, functions: list[_Function]) -> bool:
    """False if the function that a line belongs to is written."""
    owner = _owner(text, line, functions)
    if not owner or owner.waits:
        return True
    return not owner.is_right and not owner.begin <= line <= owner.end
