"""Words on the screen: colours where they are welcome, one way for each kind of
message.

A command that cannot go on raises Stop with one sentence; cli.py prints it.
"""

import os
import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The checkout; every command works with it as the current folder."""

STATE = Path(".learn")
"""What ./learn remembers: progress, backups, logs."""

COLOURS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


class Stop(Exception):
    """Ends the command with a sentence on stderr.

    Status 2 means "could not even try"; 1 is kept for "tried, and the answer is no".
    """

    def __init__(self, sentence: str, status: int = 2):
        super().__init__(sentence)
        self.status = status


class Settings:
    """What the options that every command has say (see cli.py)."""

    verbose = False
    assume_yes = False
    device = "auto"  # or gpu, cpu: chosen by hand
    time_limit = 0  # seconds for each case of a chapter; 0: the usual limit
    colour = True
    command_line = ""  # what was typed behind ./learn
    invoked_from = ROOT  # what relative paths in the arguments refer to


def is_terminal() -> bool:
    return sys.stdout.isatty()


def width() -> int:
    """Columns of the terminal; 0 if there is none. COLUMNS overrules."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) > 0:
        return int(columns)
    if not is_terminal():
        return 0
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except OSError:
        return 80


def has_colour() -> bool:
    """Not without a terminal, nor where NO_COLOR (https://no-color.org) is set."""
    return (
        Settings.colour
        and is_terminal()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM", "dumb") != "dumb")


def paint(text: str, *colours: str) -> str:
    """The text in colours, where there are any."""
    if not text or not colours or not has_colour():
        return text
    return "".join(f"\x1b[{COLOURS[c]}m" for c in colours) + text + "\x1b[0m"


def say(text: str = "") -> None:
    print(text, flush=True)


def tell(text: str, margin: int = 4) -> None:
    """Indented, and broken between words where the terminal ends."""
    say(wrap(indent(text, " " * margin)))


def quote(text: str, last: int = 0) -> None:
    """Another program's lines, or the last of them: indented, and else as they are."""
    say(indent("\n".join(text.rstrip().split("\n")[-last:])))


def note(text: str) -> None:
    """An aside that may be skipped when reading."""
    say(paint(text, "dim"))


def warn(text: str) -> None:
    complain(text, "yellow")


def complain(text: str, colour: str = "red") -> None:
    """A sentence on stderr."""
    sys.stdout.flush()
    print(paint(text, colour), file=sys.stderr, flush=True)


def next_step(label: str, command: str) -> None:
    """One line of the list of things to do that ends a report."""
    say(f"  {label:<9} {paint(command, 'bold')}")


def indent(text: str, by: str = "    ") -> str:
    return "\n".join((by + line).rstrip() for line in text.rstrip("\n").split("\n"))


def wrap(text: str) -> str:
    """Long lines broken between words where the terminal ends, with a hanging indent.

    Without a terminal the lines stay whole, for grep and for logs.
    """
    columns = width()
    if columns == 0:
        return text
    import textwrap

    lines = []
    for line in text.split("\n"):
        margin = line[: len(line) - len(line.lstrip())]
        lines += textwrap.wrap(
            line, max(columns - 1, 24), subsequent_indent=margin + "  ",
            break_long_words=False, break_on_hyphens=False, drop_whitespace=True,
            replace_whitespace=False) or [""]
    return "\n".join(lines)


def quoted(words) -> str:
    """The words as one would type them in a shell."""
    return " ".join(shlex.quote(str(word)) for word in words)


def show_command(words) -> None:
    """Prints a command under -v, on stderr so that it cannot end up in a file."""
    if Settings.verbose:
        complain(f"$ {quoted(words)}", "dim")


def confirm(question: str) -> bool:
    """True for yes, which is also the answer to Enter and to --yes.

    Without a terminal nobody can answer: then it is no rather than a hang.
    """
    if Settings.assume_yes:
        return True
    if not sys.stdin.isatty():
        return False
    try:
        answer = input(f"{question} [Y/n] ")
    except EOFError:
        return False
    return answer[:1] in ("", "Y", "y")


def relative(text: str) -> str:
    """The checkout's absolute paths made relative to it."""
    return text.replace(f"{ROOT}/", "")


def count(number: int, what: str) -> str:
    """1 case, 2 cases."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
