"""./learn xray --trace: which lines of code a page shows, and that it needs nothing
else."""

import json
import os
import re
import tempfile
import types
import unittest
from pathlib import Path

from learn import trace, trace_page, ui

SOURCE = """\
#include <cstdio>

// A comment.
template <int N>
__global__ void first(float* x) {
    x[0] = N;
}

__device__ int helper() {
    return 1;
}
""".split("\n") + ["// far"] * 60 + ["", "__global__ void last() {", "    work();", "}"]


def recorded(file: str) -> dict:
    return {
        "version": 1, "kernel": "first<</script>>", "seed": 3, "grid": [2, 1, 1],
        "block": [64, 1, 1], "index": [1, 0, 0], "left_out": 7, "ended_early": 0,
        "launched": [file, 20], "places": [["", 0], [file, 6], [file, 10]],
        "variables": [], "patterns": [[0, 0], [1, 0]], "steps": [0, 0, 0, 1, 0, 0],
        "shapes": [[0, 1, 0, 0, 1, 0, 0, 0]],
        "folds": [{"times": 5, "steps": 5, "places": [1], "writes": []}],
        "findings": [{"kind": "race", "what": "", "text": f"at {file}:6"}], "found": []}


class Page(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "a.cu").write_text("\n".join(SOURCE))

    def complete(self):
        return trace_page.complete(recorded(str(self.root / "a.cu")), self.root)

    def test_functions_are_shown_whole(self):
        self.assertEqual(trace_page.sections(SOURCE, [6]), [(4, 7)])
        self.assertEqual(trace_page.sections(SOURCE, [6, 10]), [(4, 11)])
        last = len(SOURCE) - 1
        self.assertEqual(
            trace_page.sections(SOURCE, [6, last]), [(4, 7), (last - 1, last + 1)])

    def test_paths_are_those_of_the_checkout(self):
        done = self.complete()
        self.assertEqual(done["places"][1], ["a.cu", 6])
        self.assertEqual(done["launched"], ["a.cu", 20])
        self.assertEqual(done["findings"][0]["text"], "at a.cu:6")
        self.assertEqual(done["sources"][0]["file"], "a.cu")
        self.assertEqual(done["sources"][0]["first"], 4)
        self.assertEqual(done["sources"][0]["lines"], SOURCE[3:11])

    def test_a_file_that_is_gone_has_no_lines(self):
        (self.root / "a.cu").unlink()
        self.assertEqual(self.complete()["sources"], [])

    def test_the_page_needs_nothing_else(self):
        text = trace_page.page(self.complete())
        self.assertNotRegex(text, r"(?m)^(import|export)\b")
        self.assertNotRegex(text, r"(src|href)=|url\(|@import|https?://")
        self.assertIn("function mount(", text)
        self.assertIn("function decode(", text)
        data = re.search(r'id="data">(.*?)</script>', text, re.S)[1]
        self.assertEqual(json.loads(data), self.complete())

    def test_the_compact_form_is_the_same_document(self):
        text = trace_page.compact(self.complete())
        self.assertEqual(json.loads(text), self.complete())
        self.assertLess(max(map(len, text.split("\n"))), 2000)

    def test_what_is_said(self):
        text = trace.summary(self.complete())
        self.assertIn("block (1, 0, 0), 2 warps, 2 steps", text)
        self.assertIn("5 steps of loops are folded", text)
        self.assertIn("7 steps at the end are beyond the limit", text)
        self.assertIn("Found: race", text)


class Options(unittest.TestCase):

    def test_blocks(self):
        for text in ("0", "1,2", "1,2,3"):
            self.assertEqual(trace.block_of(text), text)
        for text in ("", "a", "1,2,3,4", "1, 2", "-1"):
            with self.assertRaisesRegex(ui.Stop, "--block is"):
                trace.block_of(text)

    def test_nothing_recorded_says_what_was_asked_for(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        options = types.SimpleNamespace(
            block="9", seed=None, kernel="k", rung=None, output=None, html=None)
        with self.assertRaisesRegex(ui.Stop, "Nothing was recorded for --kernel k"):
            trace.record("test_trace", ["true"], options)


class Committed(unittest.TestCase):
    """The traces of the book: tools/dev_traces.py records them again."""

    FOLDER = ui.ROOT / "book/data/traces"

    def test_their_lines_are_those_of_the_files(self):
        files = sorted(self.FOLDER.glob("*.json"))
        self.assertGreaterEqual(len(files), 3)
        for file in files:
            text = file.read_text()
            self.assertLessEqual(len(text), 150_000, file.name)
            document = json.loads(text)
            self.assertTrue(document["steps"], file.name)
            shown = {}
            for source in document["sources"]:
                lines = (ui.ROOT / source["file"]).read_text().split("\n")
                first = source["first"] - 1
                self.assertEqual(
                    source["lines"], lines[first : first + len(source["lines"])],
                    f"{file.name}: {source['file']} has changed: tools/dev_traces.py"
                    f" {file.stem}")
                shown.setdefault(source["file"], set()).update(
                    range(first + 1, first + 1 + len(source["lines"])))
            for place, line in document["places"]:
                if line:
                    self.assertIn(line, shown[place], f"{file.name}: {place}")
