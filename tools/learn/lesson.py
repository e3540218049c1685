"""./learn lesson [CHAPTER] [--all]

A lesson in the terminal, with its code. Without an argument: of the next exercise.
--all opens what is folded: the solution.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import markers
from learn import markdown, selection, ui

SNIPPET = re.compile(r"<<< +([^{#\s]+)(?:#([\w-]+))?(?:\{(\w*)[^}]*\})?\s*$")
FOLD = re.compile(r"::: *details *(.*)$")
HINTS = re.compile(r"<!--@include:.*hints\.md")


def arguments(parser) -> None:
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--all", action="store_true")


def run(options) -> int:
    chapter = selection.single(options.chapters)
    file = Path(chapter.path, "lesson.md")
    if not file.is_file():
        raise ui.Stop(f"{chapter.label} has no lesson ({file} is missing).")
    source = plain_markdown(
        file.read_text(), chapter.path, chapter.name, options.all, book_components())
    columns = min(ui.width() or markdown.USUAL_WIDTH, markdown.USUAL_WIDTH)
    page(markdown.render(source, columns, chapter.path, ui.has_colour()) + "\n")
    return 0


# What only the book understands is replaced first: folds stay closed unless --all opens
# them, figures are mentioned, "<<< file#region" becomes the code. The rest is Markdown.
def plain_markdown(
    text: str, folder: str, name: str, show_all: bool, components: list[str]) -> str:
    """A lesson without what only the book understands."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = _without_tags(text, components)
    result: list[str] = []
    fence, folded = "", False
    for line in text.split("\n"):
        mark = re.match(r"(```+|~~~+)", line.lstrip())
        if mark and not folded:
            fence = "" if fence == mark[1] else fence or mark[1]
        elif not fence:
            if fold := FOLD.match(line):
                folded = not show_all
                result += ["", f"**▸ {fold[1]}**", ""]
                if folded:
                    result += [f"  (folded: `./learn lesson {name} --all`)", ""]
                continue
            if line.startswith(":::"):
                folded = False
                continue
            if snippet := SNIPPET.match(line):
                line = "" if folded else _code(folder, *snippet.groups(""))
            elif HINTS.match(line):
                line = f"(`./learn hint {name}` shows them one at a time)"
        if not folded:
            result.append(line)
    return "\n".join(result)


def book_components() -> list[str]:
    """Names of all that the book draws: book/figures/bank-conflicts is
    <BankConflicts>."""
    names = ["Measured"] + [file.stem for file in Path("book/components").glob("*.vue")]
    for figure in Path("book/figures").glob("*/"):
        names.append("".join(part.capitalize() for part in figure.name.split("-")))
    return names


def _without_tags(text: str, components: list[str]) -> str:
    """The book's tags taken out; a figure that stands alone is mentioned."""
    names = "|".join(components)

    def mention(match) -> str:
        words = re.sub(r"(?<!^)([A-Z])", r" \1", match[1]).lower()
        return f"[figure: {words}; `./learn book` shows it]"

    # Code between fences is left alone.
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    for index in range(0, len(parts), 2):
        part = re.sub(rf"^<({names})\b[^>]*/>", mention, parts[index], flags=re.M)
        parts[index] = re.sub(rf"</?(?:{names})(?:\s[^>]*)?>", "", part)
    return "".join(parts)


def _code(folder: str, path: str, region: str, language: str) -> str:
    """A file or a region of it, below its name."""
    path = os.path.normpath(os.path.join(folder, path))
    try:
        lines = markers.shown(path, region, language).lines
    except OSError:
        return f"\n(there is no file {path})\n"
    except markers.MarkerError as error:
        return f"\n({path}: {error})\n"
    return "\n".join(["", f"{path}:", "", "~~~~~", *lines, "~~~~~", ""])


def page(text: str) -> None:
    """Shows long text page by page on a terminal."""
    pager = os.environ.get("PAGER") or ("less" if shutil.which("less") else "")
    if not ui.is_terminal() or not pager:
        sys.stdout.write(text)
        return
    environment = {"LESS": "FRX"} | os.environ
    subprocess.run(shlex.split(pager), input=text, text=True, env=environment)
