"""A chapter made by ./learn dev new-chapter lacks what only its author can write."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from learn import dev, ui

PATH = "day02-memory/03-first-steps"


class NewChapter(unittest.TestCase):
    def setUp(self):
        self.tools = Path(__file__).resolve().parents[2]
        self.folder = tempfile.TemporaryDirectory()
        self.before = os.getcwd()
        os.chdir(self.folder.name)
        shutil.copytree(self.tools / "learn/chapter", dev.TEMPLATE)
        shutil.copy(self.tools / "markers.py", "tools/markers.py")
        Path("CMakeLists.txt").write_text(
            "wb_chapter(day01-basics/01-one)\nwb_chapter(day06-llm/01-two GIVEN a.cu\n"
            "    b.cu)\n# the end\n")

    def tearDown(self):
        os.chdir(self.before)
        self.folder.cleanup()

    def make(self, path: str) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            dev.new_chapter(path)
        return output.getvalue()

    def check(self) -> list[str]:
        """The problems that dev_check sees in the new chapter's files."""
        done = subprocess.run(
            [sys.executable, self.tools / "dev_check.py", "."], text=True,
            capture_output=True)
        return [line for line in done.stdout.split("\n") if "first-steps/" in line]

    def test_only_the_author_is_missing(self):
        self.assertIn(f"tests/{PATH}/mutants/right.cu", self.make(PATH))
        problems = self.check()
        self.assertGreater(len(problems), 10)
        for problem in problems:
            self.assertIn("TODO(author)", problem)
        for file in Path().rglob("*first*/**/*.*"):
            file.write_text(file.read_text().replace("TODO(author)", "done"))
        self.assertEqual(self.check(), [])

    def test_its_line_stands_in_the_order_of_the_course(self):
        self.make(PATH)
        self.make("day06-llm/09-last")
        self.assertEqual(Path("CMakeLists.txt").read_text().split("\n"), [
            "wb_chapter(day01-basics/01-one)", f"wb_chapter({PATH})",
            "wb_chapter(day06-llm/01-two GIVEN a.cu", "    b.cu)",
            "wb_chapter(day06-llm/09-last)", "# the end", ""])

    def test_a_wrong_path_or_one_that_exists_is_refused(self):
        self.make(PATH)
        for path in (PATH, "day2/01-x", "day02-memory/3-x", "day02-memory/03_x",
                     "../x"):
            with self.assertRaises(ui.Stop):
                dev.new_chapter(path)


if __name__ == "__main__":
    unittest.main()
