"""./learn help, and what to say to a command that does not exist."""

import importlib

from learn import cli, selection, ui

ALL = """\
Warpbook, a CUDA workbook.

  ./learn lesson [CHAPTER]   the lesson, in the terminal
  ./learn book               all lessons as a book, with figures and search
  ./learn                    build and grade the next exercise, say what to do
  ./learn check [CHAPTER]    grade any chapter or day: vector_add, day01
  ./learn hint [CHAPTER]     the next of three hints
  ./learn watch [CHAPTER]    grade again on every save
  ./learn map                progress over all seven days
  ./learn reset CHAPTER      start over; your version is kept
  ./learn solution [CHAPTER] after passing, or with --reveal
  ./learn bench [CHAPTER]    speed, on a GPU
  ./learn ceilings           what this GPU can do at most, measured once
  ./learn xray [CHAPTER]     races and the cost of each line, without a GPU

  ./learn setup              install what is missing (asks first)
  ./learn doctor             what was found, what is missing
  ./learn test               check the workbook itself
  ./learn dev check          for authors: is every chapter complete?
  ./learn dev ladders        for authors: measured numbers at the head of solutions
  ./learn dev new-chapter P  for authors: makes all files of chapter dayNN-day/NN-name
  ./learn dev mutate CHAPTER for authors: do the tests notice mistakes made by machine?
  ./learn verify-gpu         for authors: everything, on a GPU machine

check, hint, watch, reset, solution and bench take --fast: the second stage of
a chapter, "Go faster", another starter under the same tests.

Options for every command:
  --gpu, --cpu   choose by hand (default: the GPU when there is one)
  -v             show the cmake and ctest commands behind
  --yes          do not ask
  --time-limit N the seconds that a test case may take (default: 20; on a GPU: 120)
  --no-color     plain text; so does the variable NO_COLOR
  -h             help on a command
One ./learn at a time works in a checkout; a second one says so and waits its turn.
The variable WB_PRESET names any CMake preset instead: WB_PRESET=sim-debug ./learn"""

BASH = {
    "setup": """./learn setup [--yes]

Installs the packages that are missing; asks first, unless --yes.""",
    "doctor": """./learn doctor

What was found, what is missing, what to do."""}
"""What works before there is a Python; the other commands' modules describe them."""


def run(topics: list[str]) -> int:
    topic = topics[0] if topics else "help"
    if topic in ("next", "help"):
        ui.say(ALL)
        return 0
    if topic in cli.COMMANDS:
        text = importlib.import_module(f"learn.{cli.COMMANDS[topic]}").__doc__
    elif topic in BASH:
        text = BASH[topic]
    else:
        raise ui.Stop(unknown_command(topic))
    usage, _, text = text.partition("\n\n")
    ui.say(f"Usage: {usage}")
    ui.say(ui.indent(text, "  "))
    return 0


def unknown_command(typed: str) -> str:
    # ./learn vector_add is a likely slip.
    try:
        selection.chapters([typed])
        return f"'{typed}' is a chapter, not a command: ./learn check {typed}"
    except ui.Stop:
        pass
    if near := selection.similar(typed, [*cli.COMMANDS, *BASH, "help"]):
        return f"./learn has no command '{typed}'. Did you mean: {', '.join(near)}?"
    return f"./learn has no command '{typed}'; ./learn help lists them."
