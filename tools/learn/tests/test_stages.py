"""The second stage of a chapter, and what its benchmark wins."""

import json
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

from learn import bench, course, medals, selection, ui


def row(rung, gbps, idea="", percent=None, size="n = 2", exercise="copy"):
    return {
        "exercise": exercise, "rung": rung, "size": size, "idea": idea, "gbps": gbps,
        "percent": percent}


LADDER = [
    row("copy_v1", 999, size="n = 1"),
    row("copy_v1", 100, percent=10.0), row("copy_v2", 300, percent=30.0),
    row("copy_v3", 500, percent=50.0), row("plain read", 2000, "a yardstick"),
    row("cublasCopy", 700, "library", 70.0)]


class Stages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        for path in ("01-copy/copy.cu", "01-copy/copy_fast.cu", "02-sum/sum.cu"):
            file = Path("solutions/day02-memory", path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("void copy_v2_kernel();\n")

    def test_a_second_file_is_a_second_stage(self):
        copy, total = course.load()
        self.assertIsNone(total.faster)
        stage = copy.faster
        self.assertEqual(stage.file, "day02-memory/01-copy/copy_fast.cu")
        self.assertEqual(stage.key, "day02.copy_fast")
        self.assertEqual(stage.label, "day02/01-copy, faster")
        self.assertEqual(stage.hints.name, "hints_fast.md")
        self.assertEqual(stage.first_stage, copy)
        self.assertEqual(copy.first_stage, copy)

    def test_it_has_a_name_and_an_option(self):
        for typed, fast, names in (
            ("copy", False, ["copy"]), ("copy_fast", False, ["copy_fast"]),
            ("copy", True, ["copy_fast"]), ("2/1", True, ["copy_fast"]),
            ("2/1", False, ["copy"]), ("day02", True, ["copy_fast"]),
            ("copy-fast", True, ["copy_fast"]), ("day02", False, ["copy", "sum"])):
            found = [chapter.name for chapter in selection.chapters([typed], fast)]
            self.assertEqual(found, names, (typed, fast))
        with self.assertRaisesRegex(ui.Stop, "no second stage.*of day02/02-sum"):
            selection.chapters(["sum"], True)
        with self.assertRaisesRegex(ui.Stop, "has passed yet; name one"):
            selection.single([], True)

    def test_the_version_that_it_is_about(self):
        solution = Path("solutions/day02-memory/01-copy/copy_fast.cu")
        self.assertEqual(medals.version_of(solution, "copy"), "copy_v2")

    def test_the_version_of_an_exercise_that_the_solution_does_not_name(self):
        solution = Path("solutions/day02-memory/01-copy/copy_fast.cu")
        for text, exercise, expected in (
            ("void gather_v4() {}\nvoid bag_f16_v3() {}", "bag", "bag_v4"),
            ("void gather_v4() {}\nvoid bag_f16_v3() {}", "bag_f16", "bag_f16_v3"),
            ("// scan_fast.cu: v6: one pass", "scan_int32", "scan_int32_v6"),
            ("int main() {}", "copy", "")):
            solution.write_text(text)
            self.assertEqual(medals.version_of(solution, exercise), expected)


class Medals(unittest.TestCase):
    def won(self, gbps, percent=None, version="copy_v3"):
        mine = [row("copy", 5000, size="n = 1"), row("copy", gbps, percent=percent)]
        return medals.medal(medals.bars_of(mine, LADDER, "copy"), version)

    def test_each_at_its_limit(self):
        for gbps, expected in (
            (300, ""), (301, "bronze"), (449, "bronze"), (450, "silver"),
            (699, "silver"), (700, "gold")):
            self.assertEqual(self.won(gbps), expected, gbps)

    def test_the_ceiling_is_gold_without_a_library(self):
        self.assertEqual(self.won(460, percent=95.0), "gold")
        self.assertEqual(self.won(460, percent=94.9), "silver")

    def test_the_first_version_has_none_before_it(self):
        self.assertEqual(self.won(101, version="copy_v1"), "")

    def test_a_version_that_the_ladder_lacks_is_the_last(self):
        self.assertEqual(self.won(301, version="copy_v9"), "bronze")
        self.assertEqual(self.won(300, version="copy_v9"), "")

    def test_nothing_to_compare_with(self):
        self.assertEqual(medals.bars_of([], LADDER, "copy"), [])
        other = [row("sum", 1, exercise="sum")]
        self.assertEqual(medals.bars_of(other, LADDER, "sum"), [])

    def test_the_chart(self):
        bars = medals.bars_of([row("copy", 350, percent=35.0)], LADDER, "copy")
        lines = medals.chart(bars)
        self.assertEqual(len(lines), 5)
        self.assertIn("█" * medals.BAR, lines[3])  # the library is the fastest
        self.assertEqual(lines[4].count("█"), medals.BAR // 2)
        self.assertIn("350.0 GB/s  35.0 %", lines[4])
        picture = ElementTree.fromstring(medals.svg(bars, "a < b"))
        self.assertEqual(picture[0].text, "a < b")
        boxes = [float(e.get("width")) for e in picture if e.tag.endswith("rect")]
        self.assertEqual(boxes[1:], [54.3, 162.9, 271.4, 380.0, 190.0])

    def test_what_is_printed_and_written(self):
        with tempfile.TemporaryDirectory() as name:
            files = Path(name, "mine.json"), Path(name, "ladder.json")
            files[0].write_text(json.dumps({"rows": [row("copy", 480, percent=48.0)]}))
            files[1].write_text(json.dumps({"rows": LADDER}))
            solution = Path(name, "copy_fast.cu")
            solution.write_text("copy_v3_kernel")
            chapter = mock.Mock(
                is_faster=True, solution=str(solution), key="day02.copy")
            said: list[str] = []
            with mock.patch.object(ui, "say", lambda text="": said.append(text)), \
                    mock.patch.object(ui, "note"):
                bench._show_charts(chapter, *files)
            self.assertIn("copy, n = 2", said[1])
            self.assertTrue(said[-1].startswith("SILVER"), said)
            self.assertTrue(Path(name, "day02.copy.copy.svg").is_file())

    def test_a_kernel_that_has_not_passed_is_told_to(self):
        for passed in (False, True):
            chapter = mock.Mock()
            chapter.name = "copy_fast"
            chapter.has_passed.return_value = passed
            chapter.path = "day00-none/01-copy"
            said: list[str] = []
            with mock.patch.object(ui, "say", said.append), \
                    mock.patch.object(selection, "single", lambda *_: chapter), \
                    mock.patch.object(bench.build, "prepare"), \
                    mock.patch.object(bench.preset, "chosen"), \
                    mock.patch.object(bench, "_json"), \
                    mock.patch.object(bench, "_show_charts"), \
                    mock.patch.object(bench, "_run_program"):
                bench.run(mock.Mock(sizes="", seconds=""))
            told = [line for line in said if "./learn check copy_fast" in line]
            self.assertEqual(len(told), 0 if passed else 1)


if __name__ == "__main__":
    unittest.main()
