"""What is left to write, where some functions of a chapter are written."""

import tempfile
import unittest
from pathlib import Path

from learn import grade, todos
from learn.course import Chapter

SOURCE = """// TODO(learner): a helper's, always left
__global__ void mine_v1_kernel() {
    // TODO(learner): double
}

__global__ void half_kernel(int n) {
    // TODO(learner): not of the function below
}

static void twice_v1(const float* x,
                     float* y) {
    WB_NOT_SOLVED();  // delete
    if (x == y) {
        return;
    }
}

int count(int n) {
    WB_NOT_SOLVED();
    // TODO(learner): count; twice_v1(x) { is no definition
}

int half(int n) {
    // TODO(learner): WB_NOT_SOLVED() stood here
    return n / 2;
}
"""
CONTRACT = """
// Not quarter(n).
int count(int n);
int half(int n);
"""


class Todos(unittest.TestCase):
    def words(self, contract=CONTRACT, source=SOURCE, **functions):
        with tempfile.TemporaryDirectory() as folder:
            chapter = Chapter("day01", folder, "twice")
            Path(chapter.file).write_text(source)
            Path(folder, "twice.h").write_text(contract)
            result = grade.Grade(chapter)
            result.cases = [grade.Case("doubles", "unsolved", functions=functions)]
            return todos.words(result).replace(folder + "/", "")

    def test_a_kernels_todo_is_that_of_its_namesake(self):
        solved = SOURCE.replace("WB_NOT_SOLVED();\n    // TODO", "\n    // TODO")
        self.assertEqual(
            self.words(source=solved, count="passed", half="passed",
                       twice_v1="unsolved"),
            "not solved yet: write the TODO in twice.cu:1, 3,"
            " then delete WB_NOT_SOLVED() in twice.cu:12")

    def test_a_functions_todo_is_its_own(self):
        solved = SOURCE.replace("WB_NOT_SOLVED();  // delete", "")
        self.assertEqual(
            self.words(source=solved, twice_v1="passed", half="passed",
                       count="unsolved"),
            "not solved yet: write the TODO in twice.cu:1, 20,"
            " then delete WB_NOT_SOLVED() in twice.cu:19")

    def test_what_the_contract_names_is_written_once_its_mark_has_gone(self):
        # Of kernels, only a verdict can tell.
        self.assertEqual(
            self.words(),
            "not solved yet: write the TODO in twice.cu:1, 3, 7, 20,"
            " then delete WB_NOT_SOLVED() in twice.cu:12")

    def test_while_none_is_written_the_test_says_it(self):
        unsolved = SOURCE.replace("// TODO(learner): WB_NOT_SOLVED() stood here",
                                  "WB_NOT_SOLVED();  // TODO(learner)")
        self.assertEqual(self.words(source=unsolved), "")

    def test_functions_that_are_not_found_hide_nothing(self):
        self.assertEqual(self.words(contract="", others="passed"), "")

    def test_a_todo_below_which_nothing_stands_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "twice.cu")
            file.write_text(SOURCE)
            self.assertEqual(todos.empty(str(file)), [3, 7, 20])
            file.write_text("void f() {\n    // TODO(learner): twice\n"
                            "    // (2 lines)\n\n    g();\n}\n")
            self.assertEqual(todos.empty(str(file)), [])
