"""The mutants' program of a chapter: writing its text, building it, running it."""

import math
import os
import re
import resource
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from learn import build, safety, ui, verdicts
from learn.course import Chapter
from learn.mutation import ladder
from learn.mutation.code import Code
from learn.mutation.mutant import Mutant, number_mutants
from learn.mutation.part import Part, key_of
from learn.mutation.operators import OPERATORS
from learn.mutation.weave import weave

FRAGILE = ("template_argument", "word", "other_function", "static_local",
           "accumulate_half", "bound", "overwrite")
"""Operators whose mutants may be no C++, for we know no types."""
HANG = 5
"""Seconds after which the simulator ends a launch in which nothing moves."""
PATIENCE = 10
"""How many times as long as the right kernel a mutant may take, beside HANG."""
LONG = 4
"""Seconds of a processor after which a case is too much for a version. Tests leave some
out in the simulator, by the names of versions that they do not see here."""

SHARE = 20
"""Seconds on the clock for one of a processor, at most: others use the machine."""


def sources(chapter: Chapter | Part) -> list[Code]:
    """The solution's main file and those beside it that it includes, and kernels that
    the chapter gives (.cuh beside its lesson). What it shares with other chapters is
    mutated in the one that it belongs to; of a part, the same holds for the chapter."""
    if isinstance(chapter, Part):
        others = {code.path for code in _sources(chapter.chapter)}
        return [code for code in _sources(chapter) if code.path not in others]
    return _sources(chapter)


def _sources(chapter: Chapter | Part) -> list[Code]:
    folder = Path("solutions", chapter.path)
    found, names = [], [f"{chapter.name}.cu"]
    for name in names:
        file = folder / name
        if name.endswith(".cuh") and not file.is_file():
            file = Path(chapter.path, name)
        if "/" in name or not file.is_file():
            continue
        code = Code(str(file), file.read_text())
        found.append(code)
        for other in re.findall(r'^#include "(.+)"', code.text, re.M):
            if other not in names:
                names.append(other)
    members = set().union(*(code.members for code in found))
    for code in found:
        code.members = members
    return found


def mutants_of(codes: list[Code]) -> list[Mutant]:
    return number_mutants([
        mutant for code in codes for function in code.functions
        for operator in OPERATORS.values() for mutant in operator(code, function)])


def write(chapter: Chapter | Part, codes: list[Code], mutants: list[Mutant],
          versions: set[int] | None = None) -> None:
    """Weaves the mutants into the text of which the program is built.

    versions  the launchers of all others stay empty, which saves most of the time of
              the compiler"""
    unused = ladder.unused(codes, versions) if versions else set()
    known = ladder.versions(codes)
    folder = build.folder() / "mutants" / key_of(chapter)
    folder.mkdir(parents=True, exist_ok=True)
    for number, mutant in enumerate(mutants):
        mutant.number = number
    texts = {
        Path(code.path): weave(code, [m for m in mutants if m.code is code],
                               str(Path(code.path).absolute()), known, unused)
        for code in codes}
    for header in headers_between(chapter, {path.name for path in texts}):
        texts[header] = f'#line 1 "{header.absolute()}"\n{header.read_text()}'
    for path, text in texts.items():
        file = folder / path.name
        text = _with_places(text, path.parent.absolute())
        if not file.is_file() or file.read_text() != text:
            file.write_text(text)


def _with_places(text: str, here: Path) -> str:
    """Includes from other folders, with the whole path of what lies there as seen from
    the text's own folder. What does not is found by the compiler: a solution includes
    what other chapters give."""
    def place(found: re.Match[str]) -> str:
        path = here / found[1]
        return f'#include "{path}"' if path.is_file() else found[0]
    return re.sub(r'^#include "(\.\./[^"]+)"', place, text, flags=re.M)


def headers_between(chapter: Chapter | Part, woven: set[str]) -> list[Path]:
    """The chapter's headers that include a woven file, or one another that does: beside
    the woven files, for from where they are they would include the text as it was."""
    found: list[Path] = []
    folders = Path("solutions", chapter.path), Path(chapter.path)
    headers = [header for folder in folders for header in sorted(folder.glob("*.h"))]
    names = set(woven)
    while more := [header for header in headers
                   if header.name not in names and names & _included(header)]:
        found += more
        names |= {header.name for header in more}
    return found


def _included(file: Path) -> set[str]:
    return set(re.findall(r'^#include "([^"/]+)"', file.read_text(), re.M))


def build_all(chapter: Chapter | Part, codes: list[Code],
              mutants: list[Mutant]) -> tuple[list[Mutant], list[Mutant]]:
    """Builds the program. Returns the mutants in it, and those that are no C++."""
    refused: list[Mutant] = []
    while True:
        write(chapter, codes, mutants)
        target = f"{chapter.target}_mutants"
        result = build.targets(target, what=f"the mutants of {chapter.name}")
        if not result.status:
            return mutants, refused
        # Where the error is, else where the template is used that has it.
        out = (_on_lines(mutants, result.text, "error") or
               _on_lines(mutants, result.text, "required"))
        if not out:
            raise ui.Stop(f"The mutants of {chapter.name} could not be built, not even"
                          f" without some of them (the log: {build.LOG}).")
        refused += out
        mutants = [m for m in mutants if m not in out]


def _on_lines(mutants: list[Mutant], text: str, what: str) -> list[Mutant]:
    """The mutants on the lines that the compiler complains of."""
    places = set(re.findall(rf"([^/\s]+\.(?:cuh?|h)):(\d+):(?:\d+:)? +{what}", text))
    found = [m for m in mutants for file, line in places
             if Path(m.code.path).name == file and _covers(m, int(line))]
    return [m for m in found if m.operator in FRAGILE] or found


def _covers(mutant: Mutant, line: int) -> bool:
    code = mutant.code
    last = mutant.around[1] if mutant.around else mutant.last
    return mutant.line <= line <= code.line(last)


NO_SUCH_CASE = "no such case"


@dataclass
class Outcome:
    """What became of some test cases."""

    killed_by: str  # a finding's kind, or how the program ended; "" if all passed
    seconds: float  # of a processor
    is_skipped: bool = False  # too much for the simulator
    is_long: bool = False  # ended, for it took longer than it may


class Program:
    def __init__(self, path: Path, checked: bool = False):
        self.path, self.checked = path, checked

    def cases(self) -> list[str]:
        answer = subprocess.run(
            [self.path, "--wb-list"], capture_output=True, text=True)
        return answer.stdout.split("\n")[:-1]

    def run(self, case: str, *, mutant: int = -1, version: int = 0, trace: Path = None,
            usual: float = 0) -> Outcome:
        """Runs one case. `usual` is what the right kernel takes; in seconds of a
        processor, so that it does not matter what else the machine does."""
        # A comma separates cases, even between quotes.
        spec = re.sub(r'([\\",])', r"\\\1", case)
        spec = f'"{spec}"{safety.CASES if self.checked else ""}'
        environment = os.environ | {
            "SIMT_TIME_LIMIT": str(HANG), "SIMT_CHECK_COUNT": "0",
            "SIMT_CHECK_TABLE": "0", "WB_MUTANT": str(mutant)}
        if version:
            environment["WB_MUTANT_VERSION"] = str(version)
        if trace:
            environment["WB_MUTANT_TRACE"] = str(trace)
        limit = HANG + 2 + PATIENCE * usual if usual else LONG
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "verdict.json")
            environment["WB_VERDICT"] = str(file)
            process = subprocess.Popen(
                [self.path.absolute(), spec, "--abort"], cwd=folder, env=environment,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(
                    resource.RLIMIT_CPU, (math.ceil(limit),) * 2))
            taken, in_time = _wait(process, SHARE * limit)
            is_long = not in_time or taken > limit - 0.5
            verdict = verdicts.read(file)
            skipped = verdict and any(
                case.verdict == "skipped" for case in verdict.cases or [])
            ending = "time" if is_long else self._judge(verdict)
            return Outcome(ending, taken, bool(skipped), is_long)

    def _judge(self, verdict) -> str:
        if not verdict:
            return "crash"
        if not verdict.cases and not self.checked:
            return NO_SUCH_CASE
        found = verdicts.findings(verdict)
        if self.checked:
            found = [f for f in found if f.kind != "refused_launch"]
        else:
            failed = [case for case in verdict.cases or []
                      if case.verdict not in ("passed", "skipped")]
            if not failed and verdict.ended:
                # A case may provoke a finding, and pass because it came.
                found = verdict.findings or []
        if found:
            return found[0].kind
        if not verdict.ended:
            return "crash"
        bad = [case.verdict for case in verdict.cases or []
               if case.verdict not in ("passed", "skipped")]
        return bad[0] if bad else ""


def _wait(process: subprocess.Popen, clock: float) -> tuple[float, bool]:
    """Waits for the end, at most so long. Returns the seconds of a processor that it
    took, and whether it ended by itself."""
    until = time.monotonic() + clock
    pause, in_time = 0.002, True
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage.ru_utime + usage.ru_stime, in_time
        if in_time and time.monotonic() > until:
            os.killpg(process.pid, signal.SIGKILL)
            in_time = False
        time.sleep(pause)
        pause = min(1.2 * pause, 0.1)
