"""The index of a ladder gets its numbers from the benchmark, and says what is wrong."""

import json
import tempfile
import unittest
from pathlib import Path

from learn import ladders

SIZE = "B4 N64"
AUTHOR = """\
// <Ladder of="attention" at="B4 N64">
//   v1  one thread a row   few warps
//   v2  tiles  shared memory
// </Ladder>
WB_RUNG(attention, attention_v1, "one thread a row");
// #end
WB_RUNG(attention,
        attention_v2,
        "tiles");
"""
WRITTEN = """\
// <Ladder of="attention" at="B4 N64">
//       TFLOP/s  idea              what limits it
//   v1   0.0987  one thread a row  few warps
//   v2    1,230  tiles             shared memory
// </Ladder> H100, CUDA 13.0, 2026-11-21
"""


class Ladders(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.file = self.root / "solutions/day06-llm/01-attention/attention.cu"
        self.file.parent.mkdir(parents=True)
        self.data = self.root / "book/data/day06.json"
        self.data.parent.mkdir(parents=True)
        self.measure(v1=0.0987, v2=1234.5)

    def tearDown(self):
        self.folder.cleanup()

    def measure(self, exercise="attention", field="tflops", **rates):
        rows = [
            {"exercise": exercise, "rung": f"attention_{version}", "size": SIZE,
             field: rate, "median_us": 1000.0, "date": "2026-11-21"}
            for version, rate in rates.items()]
        rows.append({"exercise": "attention", "rung": "torch", "size": SIZE,
                     "median_us": 1.0})
        machine = {"gpu": "H100", "cuda": "13.0"}
        self.data.write_text(json.dumps({"machine": machine, "rows": rows}))

    def filled(self, text=AUTHOR):
        self.file.write_text(text)
        return ladders.filled(self.file, self.root)

    def refused(self, text):
        with self.assertRaises(ladders.LadderError) as caught:
            self.filled(text)
        return str(caught.exception)

    def test_numbers_and_columns_are_written(self):
        text = self.filled()
        self.assertEqual(text.partition("WB_RUNG")[0], WRITTEN)
        self.assertEqual(self.filled(text), text)

    def test_a_chapter_may_have_a_file_of_its_own(self):
        text = self.filled()
        self.data.rename(self.data.with_name("day06_attention.json"))
        self.assertEqual(self.filled(), text)
        others = {"machine": {}, "rows": [{"exercise": "other", "size": SIZE}]}
        self.data.write_text(json.dumps(others))
        self.assertEqual(self.filled(), text)

    def test_new_numbers_replace_the_old_ones(self):
        text = self.filled()
        self.measure(v1=2.5)
        lines = self.filled(text).split("\n")
        self.assertEqual(lines[2], "//   v1     2.50  one thread a row  few warps")
        self.assertEqual(lines[3], "//   v2        -  tiles             shared memory")

    def test_rates_of_memory_times_and_types(self):
        self.measure(field="gbps", v1=3000.4)
        self.assertIn("//        GB/s  idea", self.filled())
        self.assertIn("//   v1  3,000  one", self.filled())
        times = self.filled(AUTHOR.replace('64">', '64" in="us">'))
        self.assertIn("//   v1  1,000  one", times)
        self.measure(exercise="attention_bf16", v1=7.0)
        self.assertIn("//   v1     7.00  one", self.filled())

    def test_without_a_benchmark_there_is_a_dash(self):
        self.data.unlink()
        text = self.filled()
        self.assertIn("//   v1  -  one thread a row  few warps\n", text)
        self.assertIn("// </Ladder> not measured\n", text)
        self.assertEqual(self.filled(text), text)

    def test_every_version_has_a_line(self):
        self.assertIn("no line of v2", self.refused(AUTHOR.replace("//   v2", "// v2")))
        self.measure(v3=1.0)
        self.assertIn("v3 of attention was measured", self.refused(AUTHOR))
        other = AUTHOR + 'list_rung("other", "v1", "an idea", a, b);\n'
        self.measure(v1=1.0)
        self.assertIn("has no <Ladder of='other'>", self.refused(other))

    def test_what_cannot_be_filled_in_is_said(self):
        self.assertIn("was not measured at 'B9'", self.refused(
            AUTHOR.replace("B4 N64", "B9")))
        self.assertIn("without", self.refused(AUTHOR.replace("// </Ladder>", "//")))
        self.assertIn("line 1: is no", self.refused(AUTHOR.replace(' at="B4 N64"', "")))
        self.assertIn("takes 9", self.refused(AUTHOR.replace("few warps", "f" * 60)))

    def test_a_benchmark_may_have_a_name_of_its_own(self):
        self.measure(exercise="decode", v1=2.5)
        text = self.filled(AUTHOR.replace('" at', '" as="decode" at'))
        self.assertIn("//   v1     2.50  one thread a row", text)
        self.assertIn("decode was not measured at 'B9'", self.refused(
            AUTHOR.replace('" at="B4 N64', '" as="decode" at="B9')))

    def test_a_ladder_without_an_index_is_refused(self):
        self.assertIn("has no <Ladder of='attention'>", self.refused(
            'WB_RUNG(attention, attention_v1, "one");\n'))
        text = "void attention() {}\n"
        self.assertEqual(self.filled(text), text)


if __name__ == "__main__":
    unittest.main()
