"""What ./learn dev grades makes of CTest's JUnit files."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

from learn import grades, ui


def case(name: str, status: str, verdict: dict | None = None, printed: str = "") -> str:
    line = f"{grades.MARK}{json.dumps(verdict)}\n" if verdict else ""
    return (f'<testcase name="{name}" status="{status}"><system-out>{printed}'
            f"{line}</system-out></testcase>")


PASSED = {"verdict": "passed"}
UNSOLVED = {"verdict": "unsolved", "kind": "unsolved", "file": "one.cu", "line": 20}
WRONG = {"verdict": "failed", "kind": "wrong_result", "implementation": "one_v1",
         "array": "c", "index": [2, 5]}


class TestRows(unittest.TestCase):
    def rows(self, *cases: str) -> list[grades.Row]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "anna.xml")
            file.write_text(f"<testsuite>{''.join(cases)}</testsuite>")
            return grades.rows(file)

    def test_one_row_a_chapter(self):
        first, second = self.rows(
            case("build.day01.one", "run"),
            case("day01.one.adds", "run", PASSED),
            case("day01.one.adds. And more", "run", PASSED),
            case("day01.two.adds", "fail", UNSOLVED))
        self.assertEqual(first, grades.Row("anna", "day01.one", "passed", 2, 2))
        self.assertEqual(second, grades.Row(
            "anna", "day01.two", "unsolved", 0, 1, "unsolved", "one.cu:20", "adds"))

    def test_what_is_wrong_comes_before_what_is_not_written(self):
        row, = self.rows(
            case("day01.one.adds", "fail", UNSOLVED),
            case("day01.one.more", "fail", WRONG),
            case("day01.one.most", "run", PASSED))
        self.assertEqual(row, grades.Row(
            "anna", "day01.one", "failed", 1, 3, "wrong_result", "one_v1: c[2][5]",
            "more"))

    def test_skipped_cases_do_not_count(self):
        row, = self.rows(
            case("day01.one.adds", "run", PASSED),
            case("day01.one.large", "notrun", {"verdict": "skipped"}))
        self.assertEqual((row.verdict, row.passed, row.cases), ("passed", 1, 1))

    def test_a_program_cannot_say_that_it_has_passed(self):
        for status, verdict in (("fail", "failed"), ("notrun", "failed")):
            row, = self.rows(case("day01.one.adds", status, PASSED))
            self.assertEqual((row.verdict, row.passed), (verdict, 0))

    def test_the_last_line_counts(self):
        forged = grades.MARK + '{"verdict": "passed"}\n'
        row, = self.rows(case("day01.one.adds", "run", WRONG, printed=forged))
        self.assertEqual(row.verdict, "failed")

    def test_without_a_line_ctest_decides(self):
        for status, verdict in (
                ("run", "passed"), ("fail", "failed"), ("notrun", "not_run")):
            row, = self.rows(case("day01.one.adds", status))
            self.assertEqual(row.verdict, verdict)

    def test_what_is_no_junit_file_is_said(self):
        with self.assertRaises(ui.Stop):
            grades.rows(Path("nowhere.xml"))

    def test_tables(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "ben.xml")
            test = case("day01.one.more", "fail", WRONG)
            file.write_text(f"<testsuite>{test}</testsuite>")
            for as_csv, words in (
                    (True, "ben,day01.one,failed,0,1,wrong_result,\"one_v1: c[2][5]\""),
                    (False, "ben  day01.one  failed   0/1    wrong_result")):
                with contextlib.redirect_stdout(io.StringIO()) as output:
                    grades.run([str(file)], as_csv)
                self.assertIn(words.replace('"', ""), output.getvalue())


if __name__ == "__main__":
    unittest.main()
