"""Programs that take long, and what ./learn says meanwhile. On a terminal: one line
that counts, wiped at the end. Elsewhere: one line for each step that takes longer than
PATIENCE seconds, and nothing for the others.

A program writes to its log, not to us: it goes on even if this process is killed.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, NamedTuple

from learn import lock, ui

PATIENCE = 2
LINE_WIDTH = 79  # of the line that counts
TIMED_OUT = 124  # as timeout(1) ends

# How ninja ("[3/12] Building ..."), ctest (" 3/12 Test #5: ...") and our test programs
# ("[3/12] race check") count.
COUNT = re.compile(r"\[? *(\d+)/(\d+)(?:\]| Test)")
PARTS = (
    (re.compile(r"common/simt/|libsimt"), "the simulator"),
    (re.compile(r"common/|libwb|libreference"), "the grader"),
    (re.compile(r"tools/"), "the tools of the workbook"))
CHAPTER_PART = re.compile(r"day\d\d_([a-z_]+?)(?:_(?:learner|tests|checked))*"
                          r"(?:_kernels)?(?:\.dir|$)")


class Result(NamedTuple):
    status: int
    text: str  # what it printed, both streams


class Step:
    """What is shown of one program. `doing` goes before the count; its part behind a
    colon or comma is left out while nothing has been counted."""

    def __init__(self, doing: str, announcement: Callable[[], str]):
        self.doing, self.announcement = doing, announcement
        self.counted, self.part = "", ""
        self.began = self.drawn = time.monotonic()
        self.shown = False

    def read(self, line: str) -> None:
        if match := COUNT.match(line):
            # "[0/2] Re-checking ..." counts something else.
            self.counted = "" if match[1] == "0" else f"{match[1]} of {match[2]}"
            self.part = part_in_words(line)

    def show(self) -> None:
        now = time.monotonic()
        if ui.is_terminal():
            if now - self.drawn < 0.1:
                return
            self.drawn, self.shown = now, True
            if self.counted:
                part = f": {self.part}" if self.part else ""
                _draw(f"  {self.doing} {self.counted}{part}")
            else:
                _draw(f"  {re.split('[:,]', self.doing)[0]} ...")
        elif not self.shown and now - self.began >= PATIENCE:
            self.shown = True
            ui.say(self.announcement())

    def wipe(self) -> None:
        """What follows is the verdict."""
        if self.shown and ui.is_terminal():
            _draw("")
            sys.stdout.write("\r")
            sys.stdout.flush()


def _draw(text: str) -> None:
    columns = min(LINE_WIDTH, (ui.width() or 80) - 1)
    line = ui.paint(f"{text[:columns]:<{columns}}", "dim")
    sys.stdout.write(f"\r{line}")
    sys.stdout.flush()


def part_in_words(line: str) -> str:
    """Which part of the workbook a line of ninja's is about."""
    for pattern, words in PARTS:
        if pattern.search(line):
            return words
    match = CHAPTER_PART.search(line)
    return match[1] if match else ""


def run(
    command: list, log: Path, step: Step | None = None, *,
    environment: dict | None = None, holds_lock: bool = False, seconds: float = 0,
    echo: bool = False) -> Result:
    """Runs a program with its output in the file `log`.

    `seconds` is its time limit (0: none), after which the status is TIMED_OUT; `echo`
    repeats its output on stderr.
    """
    ui.show_command(command)
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        output = open(log, "wb")
    except OSError:
        output = open(os.devnull, "wb")
    with output:
        try:
            process = subprocess.Popen(
                list(map(str, command)), stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, env=os.environ | (environment or {}),
                pass_fds=lock.inherited() if holds_lock else ())
        except OSError as error:
            output.write(f"{command[0]}: {error.strerror}\n".encode())
            return Result(127, f"{command[0]}: {error.strerror}\n")
    try:
        status = _follow(process, log, step, seconds, echo)
    except KeyboardInterrupt:
        process.wait()
        raise
    try:
        text = log.read_text(errors="replace")
    except OSError:
        text = ""
    return Result(status, text)


def _follow(process, log: Path, step: Step | None, seconds: float, echo: bool) -> int:
    """Waits for the end of a program and shows how far it is."""
    ends_at = time.monotonic() + seconds if seconds else float("inf")
    status, rest = None, ""
    with open(log if log.is_file() else os.devnull, errors="replace") as output:
        while status is None:
            try:
                status = process.wait(timeout=0.1 if step or seconds else None)
            except subprocess.TimeoutExpired:
                if time.monotonic() >= ends_at:
                    process.kill()
                    process.wait()
                    status = TIMED_OUT
            new = output.read()
            if echo:
                sys.stderr.write(ui.relative(new))
            if step:
                *lines, rest = (rest + new).split("\n")
                for line in lines:
                    step.read(line)
                if status is None:
                    step.show()
        if step:
            step.wipe()
    return status
