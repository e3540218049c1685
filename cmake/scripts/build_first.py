"""What CTest runs before the tests of a program: builds it (WbTests.cmake).

    build_first.py CMAKE BUILD-FOLDER TARGET... [--learner FILE --program PROGRAM]

Fails if the targets cannot be built, and says why; CTest then runs none of their tests.
If only the learner's file does not compile, it passes, and leaves PROGRAM.not_built with
what the compiler says, as a finding (docs/verdict.md): then each test says so.

It waits for a ./learn that builds in this folder, and a ./learn waits for it.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from learn import build, compile_errors, lock, ui  # noqa: E402

LAST_LINES = 20  # of a build that failed without a compiler's error
PLACE = re.compile(r"(\S+?)[:(](\d+)")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("cmake")
    parser.add_argument("folder")
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--learner", default="")
    parser.add_argument("--program", default="")
    options = parser.parse_args()
    ui.Settings.command_line = "ctest"
    lock.take()
    # Whatever else is needed is built, though one file does not compile.
    is_ninjas = Path(options.folder, "build.ninja").is_file()
    keep_going = ["--", "-k", "0"] if is_ninjas else ["--", "-k"]
    command = [options.cmake, "--build", options.folder, "--target", *options.targets]
    result = subprocess.run(
        [*command, *keep_going], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, errors="replace", pass_fds=lock.inherited())
    note = Path(f"{options.program}.not_built")
    if result.returncode == 0:
        note.unlink(missing_ok=True)
        return 0
    if full := build.full_disk(result.stdout):
        print(full)
        return 1
    file = ui.relative(options.learner)
    error = compile_errors.first(result.stdout, file)
    if not file or not error or not error.is_learners(file):
        last = ui.relative(result.stdout).rstrip().split("\n")[-LAST_LINES:]
        print(error or "\n".join(last))
        return 1
    print(f"{file} does not compile; its tests say so.")
    note.write_text(json.dumps(finding(file, error)))
    return 0


def finding(file: str, error: compile_errors.Error) -> dict:
    """The compiler's first error in the learner's file, for their verdicts."""
    place = next(
        ({"role": "error", "file": found[1], "line": int(found[2])}
         for line in error.lines if (found := PLACE.match(line)) and file in found[1]),
        {"role": "error", "file": file, "line": 0})
    what = f"{file} does not compile"
    return {
        "kind": "ended_early", "detail": "not_built", "what": what,
        "implementation": "", "inputs": "", "places": [place], "numbers": {},
        "seen": [], "causes": [], "advice": "", "lesson": "", "times": 1,
        "text": [f"{what}:", *(f"  {line}" for line in str(error).split("\n"))]}


if __name__ == "__main__":
    sys.exit(main())
