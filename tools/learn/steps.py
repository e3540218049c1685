"""Programs that take long, and what ./learn says meanwhile. On a terminal: one line
that counts, wiped at the end. Elsewhere: one line for each step that takes longer than
PATIENCE seconds, and nothing for the others.

A program writes to its log, not to us: it goes on even if this process is killed.
"""

import os
import re
import select
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


class Run(NamedTuple):
    """A program to be run."""

    command: list
    log: Path
    environment: dict = {}


class Step:
    """What is shown of one program. `doing` goes before the count; its part behind a
    colon or comma is left out while nothing has been counted."""

    def __init__(self, doing: str, announcement: Callable[[], str]):
        self.doing, self.announcement = doing, announcement
        self.counted, self.part = "", ""
        self.counts: dict[int, tuple[int, int]] = {}  # by program
        self.began = self.drawn = time.monotonic()
        self.shown = False

    def read(self, line: str, program: int = 0) -> None:
        """A line of a program's; of several that run at the same time, the counts are
        added."""
        if match := COUNT.match(line):
            # "[0/2] Re-checking ..." counts something else.
            self.counts[program] = int(match[1]), int(match[2])
            done, total = map(sum, zip(*self.counts.values()))
            self.counted = f"{done} of {total}" if done else ""
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
    one = Run(command, log, environment or {})
    return _run([one], step, holds_lock, seconds, echo)[0]


def run_together(runs: list[Run], step: Step | None, *, seconds: float) -> list[Result]:
    """Runs programs at the same time; the time limit is that of each."""
    return _run(runs, step, False, seconds, False)


def _run(runs, step, holds_lock: bool, seconds: float, echo: bool) -> list[Result]:
    programs = [_Program(run, holds_lock) for run in runs]
    try:
        _follow(programs, step, seconds, echo)
    except KeyboardInterrupt:
        for program in programs:
            program.wait()
        raise
    finally:
        for program in programs:
            program.close()
    return [Result(program.status, program.text()) for program in programs]


class _Program:
    """One that runs: how it ended, once it has, and what it has printed."""

    def __init__(self, run: Run, holds_lock: bool):
        ui.show_command(run.command)
        self.log, self.status, self.process = run.log, None, None
        self.error, self.rest, self.end = "", "", None
        try:
            run.log.parent.mkdir(parents=True, exist_ok=True)
            output = open(run.log, "wb")
        except OSError:
            output = open(os.devnull, "wb")
        with output:
            try:
                self.process = subprocess.Popen(
                    list(map(str, run.command)), stdin=subprocess.DEVNULL,
                    stdout=output, stderr=subprocess.STDOUT,
                    env=os.environ | run.environment,
                    pass_fds=lock.inherited() if holds_lock else ())
            except OSError as error:
                self.error = f"{run.command[0]}: {error.strerror}\n"
                output.write(self.error.encode())
                self.status = 127
        self.output = open(self.log if self.log.is_file() else os.devnull,
                           errors="replace")
        if self.process:
            try:
                self.end = os.pidfd_open(self.process.pid)
            except (AttributeError, OSError):
                pass  # an old kernel: its end is seen a little later

    def poll(self) -> None:
        if self.status is None:
            self.status = self.process.poll()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.status = TIMED_OUT

    def wait(self) -> None:
        if self.process:
            self.process.wait()

    def lines(self, new: str) -> list[str]:
        """Whole ones, of what it has printed by now."""
        *lines, self.rest = (self.rest + new).split("\n")
        return lines

    def text(self) -> str:
        try:
            return self.error or self.log.read_text(errors="replace")
        except OSError:
            return ""

    def close(self) -> None:
        self.output.close()
        if self.end is not None:
            os.close(self.end)


def _wait_for_any(programs: list[_Program], seconds: float | None) -> None:
    """Until one of them ends, or so long; None: however long it takes."""
    if any(program.end is None for program in programs):
        try:
            programs[0].process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            pass
        return
    ends = select.poll()
    for program in programs:
        ends.register(program.end, select.POLLIN)
    ends.poll(None if seconds is None else 1000 * seconds)


def _follow(programs: list[_Program], step, seconds: float, echo: bool) -> None:
    """Waits for the end of all and shows how far they are."""
    ends_at = time.monotonic() + seconds if seconds else float("inf")
    while waiting := [program for program in programs if program.status is None]:
        _wait_for_any(waiting, 0.1 if step or seconds else None)
        is_late = time.monotonic() >= ends_at
        for number, program in enumerate(programs):
            program.poll()
            if is_late and program.status is None:
                program.stop()
            new = program.output.read()
            if echo:
                sys.stderr.write(ui.relative(new))
            if step:
                for line in program.lines(new):
                    step.read(line, number)
        if step and any(program.status is None for program in programs):
            step.show()
    if step:
        step.wipe()
