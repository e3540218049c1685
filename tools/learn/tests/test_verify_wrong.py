"""Known-wrong kernels in one process: which of their verdicts count."""

import contextlib
import io
import tempfile
import time
import unittest
from pathlib import Path

from learn import verdicts, verify_wrong

# A program of known-wrong kernels. One whose name says so ends the process, another
# spoils what comes after it.
PROGRAM = r"""#!/usr/bin/env python3
import json, sys, time
spoiled = False
for line in open(sys.argv[2]):
    kernel, file, *arguments = line.rstrip("\n").split("\t")
    spoiled |= kernel == "spoils"
    right = kernel.startswith("right") and not spoiled
    case = {"name": arguments[0], "verdict": "passed" if right else "failed"}
    document = {"format": "warpbook verdict 1", "ended": True, "cases": [case]}
    open(file, "w").write(json.dumps(document))
    if kernel == "hangs":
        time.sleep(60)
    if kernel.startswith("crashes"):
        sys.exit(87)
"""


class OneProcess(unittest.TestCase):
    seconds = 60

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = self.folder / "day01_one_wrong"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)

    def counted(self, *kernels: str) -> tuple[int, set[str]]:
        """How many are left to CTest, and whose verdicts count."""
        tasks = []
        for kernel in kernels:
            is_right = kernel.startswith("right")
            test = f"day01.one.{kernel if is_right else 'mutant.' + kernel}"
            file = self.folder / f"{test}.json"
            tasks.append(verify_wrong.Task(test, kernel, file, "a case\t--abort"))
        with contextlib.redirect_stdout(io.StringIO()):
            left = verify_wrong.run_program(
                str(self.program), tasks, self.folder, time.monotonic() + self.seconds)
        there = {task.kernel for task in tasks if verdicts.read(task.verdict)}
        return left, there

    def test_all_of_them_count_if_the_right_text_passes_at_the_end(self):
        self.assertEqual(self.counted("right", "a", "b"), (0, {"right", "a", "b"}))

    def test_one_that_ends_the_process_is_left_and_the_others_begin_anew(self):
        self.assertEqual(
            self.counted("a", "crashes", "b", "crashes_too", "right"),
            (2, {"a", "b", "right"}))

    def test_none_counts_if_one_spoils_what_the_right_text_meets(self):
        self.assertEqual(self.counted("a", "spoils", "right"), (3, set()))

    def test_none_counts_without_a_right_text(self):
        self.assertEqual(self.counted("a", "b"), (2, set()))

    def test_one_that_hangs_leaves_all_when_time_is_up(self):
        self.seconds = 0.5
        self.assertEqual(self.counted("a", "hangs", "right"), (3, set()))

    def test_a_program_that_does_not_start_leaves_all(self):
        self.program.unlink()
        self.assertEqual(self.counted("a", "right"), (2, set()))


if __name__ == "__main__":
    unittest.main()
