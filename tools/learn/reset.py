"""./learn reset CHAPTER [--fast]

Puts the starter back. Your version is kept in .learn/backup first. --fast:
of the second stage.
"""

import markers
from learn import files, selection, ui


def arguments(parser) -> None:
    parser.add_argument("chapters", nargs="*")
    selection.add_fast(parser)


def run(options) -> int:
    if not options.chapters:
        raise ui.Stop(
            "Say which chapter to start over, for example: ./learn reset vector_add")
    chapter = selection.single(options.chapters, options.fast)
    try:
        starter = markers.text_of(chapter.file)
    except (OSError, markers.MarkerError) as error:
        raise ui.Stop(
            f"The starter of {chapter.label} could not be made, your file was left"
            f" alone ({chapter.solution}: {error}).") from None
    if files.holds(chapter, starter):
        ui.say(f"{chapter.file} is the starter already; nothing was changed.")
        return 0
    files.replace(chapter, starter)
    ui.say(f"{chapter.file} is the starter again.")
    ui.next_step("Next", f"./learn check {chapter.name}")
    return 0
