"""The command line: one parser a command, with the options that all of them share.

A command is a module of this package with a function run(options), and
arguments(parser) if it takes any. Modules are imported when they are needed: ./learn
map starts at once."""

import argparse
import errno
import importlib
import os
import re
import sys
from pathlib import Path

from learn import ui

COMMANDS = {
    "next": "check", "check": "check", "hint": "hint", "map": "map", "watch": "watch",
    "reset": "reset", "solution": "solution", "bench": "bench",
    "ceilings": "ceilings", "xray": "xray", "lesson": "lesson", "book": "book",
    "test": "selftest", "dev": "dev", "verify-gpu": "verify_gpu"}
"""Each command's module. setup and doctor work before there is a Python
(setup/*.sh)."""


class Parser(argparse.ArgumentParser):
    """argparse with sentences of our own."""

    def error(self, message):
        raise ui.Stop(f"./learn {self.prog}: {message} (./learn help {self.prog}).")


def main(words: list[str]) -> int:
    """Runs one command; its exit status."""
    try:
        return _run(words)
    except ui.Stop as stop:
        ui.complain(str(stop))
        return stop.status
    except KeyboardInterrupt:
        return 130
    except ModuleNotFoundError as error:
        if error.name.startswith("learn"):
            raise
        ui.complain(f"This Python lacks its module {error.name}: try ./learn setup.")
        return 2
    except BrokenPipeError:  # ./learn map | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        ui.complain("The disk is full: free some space and run the same command again.")
        return 2


def _run(words: list[str]) -> int:
    sys.stdout.reconfigure(errors="replace")
    ui.Settings.invoked_from = Path(os.environ.get("WB_INVOKED_FROM", ui.ROOT))
    os.chdir(ui.ROOT)
    name, words = _command_of(words)
    own = words[: words.index("--")] if "--" in words else words
    if "-h" in own or "--help" in own:
        name, words = "help", [name]
    if name == "help":
        from learn import help

        return help.run(words)
    if name not in COMMANDS:
        from learn import help

        raise ui.Stop(help.unknown_command(name))
    module = importlib.import_module(f"learn.{COMMANDS[name]}")
    options = _parse(name, module, words)
    ui.Settings.command_line = ui.quoted([name, *words] if name != "next" else words)
    _warn_about_sudo()
    return module.run(options)


def _command_of(words: list[str]) -> tuple[str, list[str]]:
    """The command, which may stand behind options, and all other words."""
    for index, word in enumerate(words):
        if word == "--":
            break
        if not word.startswith("-") and words[index - 1 : index] != ["--time-limit"]:
            return word, words[:index] + words[index + 1 :]
    return "next", words


def _parse(name: str, module, words: list[str]) -> argparse.Namespace:
    """The options; those of every command are kept in ui.Settings."""
    parser = Parser(prog=name, add_help=False, allow_abbrev=False, exit_on_error=False)
    add = parser.add_argument
    add("-v", "--verbose", action="store_true")
    add("-y", "--yes", action="store_true")
    add("--no-color", "--no-colour", action="store_true", dest="no_colour")
    add("--cpu", action="store_const", const="cpu", dest="device", default="auto")
    if name != "xray":  # for which --gpu names a GPU to predict
        add("--gpu", action="store_const", const="gpu", dest="device")
    add("--time-limit", type=seconds, default=0)
    if hasattr(module, "arguments"):
        module.arguments(parser)
    behind: list[str] = []  # arguments behind -- are nobody's options
    if "--" in words:
        place = words.index("--")
        words, behind = words[:place], words[place + 1 :]
    try:
        options, unknown = parser.parse_known_intermixed_args(words)
    except argparse.ArgumentError as error:
        if isinstance(error.__context__, argparse.ArgumentTypeError):
            raise ui.Stop(f"{error.message}.") from None
        option = next(w for w in error.argument_name.split("/") if w in words)
        sentence = f"{option} needs a value after it (./learn help {name})."
        raise ui.Stop(sentence) from None
    options.behind = behind
    options.command = name
    if unknown:
        _refuse(name, parser, unknown[0])
    ui.Settings.verbose = options.verbose
    ui.Settings.assume_yes = options.yes
    ui.Settings.colour = not options.no_colour
    ui.Settings.device = options.device
    ui.Settings.time_limit = options.time_limit
    return options


def seconds(text: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,5}", text):
        raise argparse.ArgumentTypeError(
            "--time-limit needs a number of seconds, as in --time-limit 60")
    return int(text)


def _refuse(name: str, parser, word: str) -> None:
    if word.startswith("-"):
        raise ui.Stop(f"./learn {name} has no option '{word}' (./learn help {name}).")
    raise ui.Stop(f"./learn {name} takes no argument, but was given '{word}'.")


def _warn_about_sudo() -> None:
    """Files made by root would lock learners out of their own checkout."""
    user = os.environ.get("SUDO_USER", "root")
    if user != "root" and os.geteuid() == 0:
        ui.warn(
            "You are running ./learn through sudo: the files it makes will belong to"
            f" root. Run it as {user}; it asks for sudo itself when it needs it.")
