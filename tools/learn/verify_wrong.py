"""The part of ./learn verify-gpu that runs the known-wrong kernels of a chapter in one
process. On a GPU each process costs the driver some 0.3 seconds, in which no other
begins: for 800 wrong kernels that would be most of the suite's time.

CTest judges them as ever (cmake/scripts/expect_rejected.cmake), but finds the
verdicts of most in a folder, $WB_WRONG_TOGETHER. What is not there it runs by
itself. A verdict counts only if the process, after all of its wrong kernels, still
lets the right text pass: then none of them has spoiled what the next one met. A
kernel that ends the process, or leaves CUDA with an error that stays, is left to
CTest, and the others begin anew without it.
"""

import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from learn import ctest, steps, ui, verdicts

MOST_BEGINNINGS = 4  # of one program; what is left then CTest runs
SECONDS = 150  # for all of them; what is not done by then CTest runs
SECONDS_A_CASE = 30  # many programs share the GPU


class Task(NamedTuple):
    """What CTest would run in a process of its own."""

    test: str
    kernel: str
    verdict: Path
    arguments: str  # Catch2's, with tabs between them

    @property
    def is_right(self) -> bool:
        """It must pass, and comes last."""
        return ".mutant." not in self.test


def run(state, *only: str) -> Path:
    """Returns the folder of the verdicts. `only` chooses among CTest's tests."""
    folder = state.work / "wrong"
    folder.mkdir(parents=True)
    state.begin("wrong kernels")
    with ThreadPoolExecutor(state.jobs) as pool:
        asked = list(pool.map(
            lambda test: _ask(test, folder), _tests_of_wrong_kernels(*only)))
    programs: dict[str, list[Task]] = {}
    for program, task in filter(None, asked):
        programs.setdefault(program, []).append(task)
    ends_at = time.monotonic() + SECONDS
    with ThreadPoolExecutor(state.jobs) as pool:
        alone = sum(pool.map(
            lambda item: run_program(*item, folder, ends_at), programs.items()))
    number = sum(map(len, programs.values()))
    words = f"{number - alone} in {len(programs)} processes, {alone} by themselves"
    state.end("wrong kernels", "ok", words)
    return folder


def _tests_of_wrong_kernels(*only: str) -> list[dict]:
    return [
        test for test in ctest.tests(*only)
        if any("expect_rejected" in word or "expect_right" in word
               for word in test.get("command", ()))]


def _ask(test: dict, folder: Path) -> tuple[str, Task] | None:
    """The script says what it would run: no rule is written twice."""
    settings = dict(
        entry.partition("=")[::2] for entry in ctest.environment_of(test))
    name = Path(settings.get("WB_VERDICT", "")).name
    kernel = settings.get("WB_WRONG_KERNEL", "")
    program = [word.removeprefix("-DPROGRAM=") for word in test["command"]
               if word.startswith("-DPROGRAM=")]
    if not (name and kernel and program):
        return None
    file = folder / f"{name}.task"
    subprocess.run(
        test["command"], capture_output=True,
        env=os.environ | settings | {"WB_TASK_FILE": str(file)})
    if not file.is_file():
        return None
    arguments = file.read_text().rstrip("\n")
    file.unlink()
    return program[0], Task(test["name"], kernel, folder / name, arguments)


def run_program(
    program: str, tasks: list[Task], folder: Path, ends_at: float
) -> int:
    """Returns how many are left to CTest. `ends_at`, by time.monotonic(): no later."""
    tasks = sorted(tasks, key=lambda task: task.is_right)
    name = Path(program).name
    left = 0
    for _ in range(MOST_BEGINNINGS):
        if len({task.is_right for task in tasks}) < 2:
            break  # nothing wrong, or nothing right that would vouch for it
        began = time.monotonic()
        if began >= ends_at:
            break
        list_file = folder / f"{name}.tasks"
        list_file.write_text("".join(
            f"{task.kernel}\t{task.verdict}\t{task.arguments}\n" for task in tasks))
        for task in tasks:
            task.verdict.unlink(missing_ok=True)
        result = steps.run(
            [program, "--wb-each", list_file], folder / f"{name}.log",
            seconds=ends_at - began,
            environment={"WB_TIME_LIMIT": str(SECONDS_A_CASE)})
        begun = [task for task in tasks if task.verdict.is_file()]
        last = begun[-1].kernel if begun else "none"
        ui.note(f"   {name}: {len(begun)} of {len(tasks)} in "
                f"{time.monotonic() - began:.0f} s, the last {last}, "
                f"exit status {result.status}")
        if result.status == 0 and begun == tasks and _right_ones_pass(tasks):
            return left
        if not begun or begun[-1].is_right:
            break  # some kernel has spoiled the others' world, or nothing works at all
        tasks.remove(begun[-1])
        begun[-1].verdict.unlink()
        left += 1
    for task in tasks:
        task.verdict.unlink(missing_ok=True)
    return left + len(tasks)


def _right_ones_pass(tasks: list[Task]) -> bool:
    right = [verdicts.read(task.verdict) for task in tasks if task.is_right]
    said = [case.verdict for verdict in right for case in verdict.cases]
    return bool(right) and set(said) <= {"passed", "skipped"} and "passed" in said
