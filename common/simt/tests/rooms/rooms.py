#!/usr/bin/env python3
"""The floors of the simulator, held: reads every #include of a checkout of common/simt
and complains, with file and line, of

  * an arrow that leads upwards: a room may include itself and the rooms before it;
  * files that include each other in a circle, within a room too;
  * an include that leads out of the simulator, and a chapter's name: it knows none.

    rooms.py COMMON_SIMT     checks
    rooms.py --self-test     shows that each complaint is made
"""

import re
import sys
import tempfile
from pathlib import Path

# From the bottom to the top. Programs (the last line) may include everything.
ROOMS = ("rewriter", "core", "checker", "api", "async", "headers", "libraries")
PROGRAMS = ("tests", "examples", "bench")
# These stand apart: what nobody above may include.
ALONE = {"rewriter"}

SOURCES = {".h", ".cpp", ".inc", ".cu", ".cuh", ".txt", ""}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
FORWARDED = re.compile(r"^()([^\s#]+):$", re.M)
CHAPTER = re.compile(r"day\d\d-")


class Tree:
    """The files of the simulator by their path in it, and what each includes."""

    def __init__(self, root: Path):
        self.root = root
        self.files = {
            str(path.relative_to(root)): path.read_text(encoding="utf-8")
            for room in (*ROOMS, *PROGRAMS)
            for path in sorted((root / room).rglob("*"))
            if path.is_file() and path.suffix in SOURCES}
        # Headers that the build makes, and what each includes.
        self.made = {
            name: f"{room}/forwarders.txt" for room in ROOMS
            for paragraph in self.files.get(f"{room}/forwarders.txt", "").split("\n\n")
            if not paragraph.startswith("std:")  # these only include the host's
            for names in re.findall(r"^ .*", paragraph, re.M) for name in names.split()}
        self.folders = ["", *(f"{room}/include" for room in ROOMS), "core/portable"]

    def target(self, file: str, quote: str, name: str) -> str | None:
        """The file of the simulator that an #include in `file` means, if it is one."""
        folders = [str(Path(file).parent)] if quote == '"' else []
        for folder in folders + self.folders:
            path = (self.root / folder / name).resolve()
            if path.is_relative_to(self.root) and path.is_file():
                return str(path.relative_to(self.root))
        return self.made.get(name)

    def arrows(self, file: str):
        """Line, name and target of each include."""
        text = self.files[file]
        arrow = FORWARDED if file.endswith(".txt") else INCLUDE
        for match in arrow.finditer(text):
            line = text.count("\n", 0, match.start(1)) + 1
            yield line, match[2], self.target(file, match[1], match[2])


def room_of(file: str) -> str:
    return file.split("/")[0]


def upward(tree: Tree) -> list[str]:
    found = []
    for file in tree.files:
        room = room_of(file)
        for line, name, target in tree.arrows(file):
            place = f"{file}:{line}"
            if room in PROGRAMS:
                continue
            if target is None:
                if "/" in name and name.split("/")[0] in ("wb", "..", "common"):
                    found.append(f"{place}: {name} is not the simulator's")
                continue
            other = room_of(target)
            if other in PROGRAMS or other in ALONE and other != room \
                    or ROOMS.index(other) > ROOMS.index(room):
                found.append(f"{place}: {room} includes {target}, of {other}")
    return found


def circles(tree: Tree) -> list[str]:
    """Each circle once, from the include that closes it."""
    found, done, trail = [], set(), []

    def visit(file: str) -> None:
        trail.append(file)
        for line, _, target in tree.arrows(file):
            if target in trail:
                way = [*trail[trail.index(target):], target]
                found.append(f"{file}:{line}: a circle: {' -> '.join(way)}")
            elif target in tree.files and target not in done:
                visit(target)
        trail.pop()
        done.add(file)

    for file in tree.files:
        if file not in done:
            visit(file)
    return found


def chapters(tree: Tree) -> list[str]:
    return [
        f"{file}:{number}: names a chapter"
        for file, text in tree.files.items() if room_of(file) in ROOMS
        for number, line in enumerate(text.split("\n"), 1) if CHAPTER.search(line)]


def problems(root: Path) -> list[str]:
    tree = Tree(root.resolve())
    if missing := [room for room in ROOMS if not (root / room).is_dir()]:
        return [f"{room}: there is no such room" for room in missing]
    return upward(tree) + circles(tree) + chapters(tree)


def self_test() -> list[str]:
    """What goes unnoticed of what is planted in a small house."""
    planted = {
        "core/x.cpp:2": ("core/x.cpp", '#include "y.h"\n#include "api/call.h"\n'),
        "core/include/simt/x.h:1":
            ("core/include/simt/x.h", "#include <cuda_runtime.h>\n"),
        "api/x.h:1": ("api/x.h", '#include "../async/state.h"\n'),
        "headers/include/x.h:1": ("headers/include/x.h", '#include "thrust/sort.h"\n'),
        "api/x.cpp:1": ("api/x.cpp", '#include "rewriter/lexer.h"\n'),
        "headers/forwarders.txt:1":
            ("headers/forwarders.txt", "thrust/sort.h:\n    thrust/x.h thrust/y.h\n"),
        "api/y.cpp:1": ("api/y.cpp", "#include <thrust/all.h>\n"),
        "async/x.cpp:1": ("async/x.cpp", '#include "wb/ptx/tma.h"\n'),
        "core/x.h:1": ("core/x.h", '#include "../tests/harness.h"\n'),
        "core/b.h:1: a circle": ("core/b.h", '#include "a.h"\n'),
        "checker/x.cpp:1: names": ("checker/x.cpp", '// see day01-basics\n'),
    }
    house = {
        "core/a.h": '#include "b.h"\n', "core/b.h": "", "core/y.h": "",
        "api/call.h": '#include "core/a.h"\n', "async/state.h": "",
        "checker/c.h": "", "rewriter/lexer.h": "", "tests/harness.h": "",
        "headers/include/cuda_runtime.h": '#include "simt/z.h"\n#include <vector>\n',
        "core/include/simt/z.h": "", "libraries/include/thrust/sort.h": "",
        "libraries/forwarders.txt": "thrust/sort.h:\n    thrust/all.h\n"}
    unnoticed = []
    for expected, (file, text) in {"": ("core/a.h", ""), **planted}.items():
        with tempfile.TemporaryDirectory() as folder:
            for name, content in {**house, file: text}.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
            found = problems(Path(folder))
            right = not found if not expected else (
                len(found) == 1 and found[0].startswith(expected))
            if not right:
                unnoticed.append(f"planted {expected or 'nothing'}, found {found}")
    return unnoticed


def main() -> int:
    found = self_test() if sys.argv[1] == "--self-test" else problems(Path(sys.argv[1]))
    print(*found, f"{len(found)} problems", sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
