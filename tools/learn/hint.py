"""./learn hint [CHAPTER] [--fast]

Shows the next of three hints. --fast: of the second stage, "Go faster".
"""

import re

from learn import progress, selection, ui


def arguments(parser) -> None:
    parser.add_argument("chapters", nargs="*")
    selection.add_fast(parser)


def run(options) -> int:
    chapter = selection.single(options.chapters, options.fast)
    file = chapter.hints
    if not file.is_file():
        raise ui.Stop(f"{chapter.label} has no hints ({file} is missing).")
    hints = hints_of(file.read_text())
    shown = min(progress.read(chapter.key).hints + 1, len(hints))
    headline = ui.paint(f"hint {shown} of {len(hints)}", "yellow")
    ui.say(f"{ui.paint(chapter.label + ':', 'bold')} {headline}")
    ui.say()
    ui.say(_rendered(hints[shown - 1]))
    ui.say()
    progress.record_hints(chapter.key, shown)
    if shown < len(hints):
        ui.next_step("More", f"./learn hint {chapter.name}")
    else:
        ui.say(f"  That was the last one; all are in {file}.")
        ui.next_step("Else", f"./learn solution {chapter.name} --reveal")
    return 0


def hints_of(text: str) -> list[str]:
    """The texts below "## Hint 1", "## Hint 2" and so on, in this order."""
    sections = re.split(r"^## (.*)$", text, flags=re.MULTILINE)[1:]
    return [
        body.strip("\n")
        for title, body in zip(sections[::2], sections[1::2])
        if title.startswith("Hint ")]


def _rendered(hint: str) -> str:
    from learn import markdown

    columns = min(ui.width() or markdown.USUAL_WIDTH, markdown.USUAL_WIDTH)
    return ui.indent(markdown.render(hint, columns - 4))
