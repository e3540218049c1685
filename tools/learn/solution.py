"""./learn solution [CHAPTER] [--reveal] [--copy] [--fast]

After a pass (or with --reveal): where the solution is. --copy puts it into
your file; your version is kept in .learn/backup first. --fast: of the second stage.
"""

import os
import re
from pathlib import Path

from learn import files, selection, ui


def arguments(parser) -> None:
    parser.add_argument("chapters", nargs="*")
    selection.add_fast(parser)
    parser.add_argument("--reveal", action="store_true")
    parser.add_argument("--copy", action="store_true")


def run(options) -> int:
    chapter = selection.single(options.chapters, options.fast)
    if not chapter.has_passed() and not options.reveal:
        ui.say(
            f"{chapter.label} has not passed yet: try ./learn hint {chapter.name}"
            " first."
        )
        ui.say(
            "To see the solution all the same:"
            f" ./learn solution {chapter.name} --reveal")
        return 1
    if options.copy:
        return _copy(chapter)
    ui.say(chapter.solution)
    ui.next_step("Compare", f"diff {chapter.file} {chapter.solution}")
    reveal = " --reveal" if options.reveal else ""
    ui.next_step("Use", f"./learn solution {chapter.name}{reveal} --copy")
    return 0


def _with_its_headers(chapter, text: str) -> str:
    """What lies beside the solution is included from there, as the compiler does it:
    the learner's folder may have a file of that name, too, the starter of the second
    stage."""
    folder = Path(chapter.solution).parent

    def found(match: re.Match) -> str:
        name = match[1]
        if not (folder / name).exists():
            return match[0]
        return f'#include "{os.path.relpath(folder / name, chapter.path)}"'

    return re.sub(r'^#include "([^"/]+)"', found, text, flags=re.MULTILINE)


def _copy(chapter) -> int:
    text = _with_its_headers(chapter, Path(chapter.solution).read_text())
    if files.holds(chapter, text):
        ui.say(f"{chapter.file} is the solution already.")
        return 0
    files.replace(chapter, text)
    ui.say(f"{chapter.file} is now the solution.")
    ui.next_step("Check", f"./learn check {chapter.name}")
    return 0
