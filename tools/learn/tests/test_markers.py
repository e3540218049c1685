"""Starters, regions and edits: what tools/markers.py makes of right and wrong files."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import markers

SOLUTION = """\
#include "x.h"
// #solution
#include "ladder.h"
// #end

void f() {
    // #starter WB_NOT_SOLVED();
    // TODO(learner): g
    // on two lines
    // #solution
    g();
    // #end
}

// #solution
void v2() {}
// #end

// #region last
void h() {}
// #endregion last
"""
STARTER = """\
#include "x.h"

void f() {
    WB_NOT_SOLVED();
    // TODO(learner): g
    // on two lines
}

// #region last
void h() {}
// #endregion last
"""


class Starters(unittest.TestCase):
    def test_leaves_out_the_solution_and_double_blank_lines(self):
        self.assertEqual(markers.starter_of(SOLUTION), STARTER)

    def test_refuses_markers_that_do_not_match(self):
        for text, message in {
            "void f() {}\n": "nothing is left for the learner",
            "a\n// #solution\nb\n": "line 2: #solution without #end",
            "a\n// #end\n": "line 2: #end without #solution",
            "// #solution\n// #solution\n// #end\n": "line 2: #solution inside of"
        }.items():
            with self.assertRaisesRegex(markers.MarkerError, message):
                markers.starter_of(text)


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.solution, self.starter = self.file("solution.cu"), self.file("starter.cu")
        Path(self.solution).write_text(SOLUTION)

    def file(self, name):
        return str(self.folder / name)

    def run_it(self, *words):
        self.out, self.err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(self.out), contextlib.redirect_stderr(self.err):
            return markers.main(list(words))

    def test_prints_or_writes_the_starter(self):
        self.assertEqual(self.run_it(self.solution), 0)
        self.assertEqual(self.out.getvalue(), STARTER)
        self.assertEqual(self.run_it(self.solution, self.starter), 0)
        self.assertEqual(Path(self.starter).read_text(), STARTER)

    def test_checks_a_starter(self):
        Path(self.starter).write_text(STARTER)
        self.assertEqual(self.run_it("--check", self.solution, self.starter), 0)
        Path(self.starter).write_text(STARTER + "// edited\n")
        self.assertEqual(self.run_it("--check", self.solution, self.starter), 1)
        self.assertRegex(self.err.getvalue(), "starter.cu is not what .*solution.cu")

    def test_says_what_it_cannot_do(self):
        self.assertEqual(self.run_it(self.file("missing.cu")), 1)
        self.assertRegex(self.err.getvalue(), "cannot read .*missing.cu")
        self.assertEqual(self.run_it(self.solution, self.file("no/such/folder.cu")), 1)
        self.assertRegex(self.err.getvalue(), "cannot write")
        self.assertEqual(self.run_it(), 2)


class Regions(unittest.TestCase):
    def test_has_no_markers_inside_and_no_common_indentation(self):
        text = "// #region a\n\n    // #region b\n    x;\n      y;\n"
        text += "// #endregion b\n// #endregion a\n"
        self.assertEqual(markers.region(text, "a"), (["x;", "  y;"], 4, 5))

    def test_of_a_solution_lacks_what_the_starter_asks(self):
        shown = "\n".join(markers.region(SOLUTION).lines)
        self.assertIn("g();", shown)
        for absent in ("TODO", "two lines", "#", "WB_NOT_SOLVED"):
            self.assertNotIn(absent, shown.replace("#include", ""))

    def test_of_a_starter_keeps_its_task(self):
        self.assertIn("    // TODO(learner): g", markers.region(STARTER).lines)

    def test_must_be_there_once(self):
        begin, end = "// #region a\n", "// #endregion a\n"
        for text, fault in {
            "": "is missing .*has: none",
            "// #region b\nx\n// #endregion b\n": "is missing .*has: b",
            "// #region a-b\n// #endregion a-b\n": "is missing",
            begin + "x\n": "begins in line 1 but ends nowhere",
            begin + "x\n// #endregion\n": "ends nowhere",
            "x\n" + end: "ends in line 2 but begins nowhere",
            begin + "x\n" + end + begin: "begins more than once, in lines 1, 4",
            begin + "x\n" + end + end: "ends more than once, in lines 3, 4",
            end + "x\n" + begin: "ends in line 1, before it begins",
            begin + "\n" + end: 'region "a" is empty',
        }.items():
            with self.assertRaisesRegex(markers.MarkerError, fault):
                markers.region(text, "a")

    def test_takes_other_comment_signs_and_line_ends(self):
        for text in ("// #region a\r\nx\r\n// #endregion a\r\n",
                     "# #region a\nx\n# #endregion a\n",
                     "/* #region a */\nx\n/* #endregion a */\n"):
            self.assertEqual(markers.region(text, "a").lines, ["x"])

    def test_of_an_edit_is_the_text_after_it(self):
        edit = "# off by one\n     step();\n-    return 1;\n+    return 2;\n"
        self.assertEqual(
            markers.region(markers.after_edit(edit)).lines, ["step();", "return 2;"])
