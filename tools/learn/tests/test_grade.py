"""Verdicts: what is made of the documents of test programs, and of how these ended."""

import contextlib
import io
import json
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from learn import (
    ctest, grade, map, passes, preset, progress, report, safety, ui, verdicts)
from learn.course import Chapter

CHAPTER = Chapter("day01", "day01-basics/02-vector-add", "vector_add")
WRONG = {
    "kind": "wrong_result",
    "text": ["vector_add, n = 33, seed 1", "  c is wrong in 33 of 33 elements"]}
UNSOLVED = {"kind": "unsolved", "text": ["not solved yet: write the TODO in a.cu:4"]}
RACE = {"kind": "race", "text": ["RACE (write after read) on `s_sum`"]}


def document(verdict="passed", ended=True, findings=(), reason="", **more):
    case = {"name": "adds", "verdict": verdict, "reason": reason, "seconds": 0.01,
            "findings": list(findings)}
    return {"format": verdicts.FORMAT, "ended": ended, "cases": [case], "findings": [],
            **more}


def read(text):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "verdict.json")
        file.write_text(text)
        return verdicts.read(file)


def judged(document_=None, outcome="passed", ending=""):
    test = ctest.Test("day01.vector_add.adds", outcome, ending, "printed\n")
    verdict = read(json.dumps(document_)) if document_ else None
    return grade.judge(test, verdict, CHAPTER.key)


def graded(*cases):
    result = grade.Grade(CHAPTER)
    result.cases = list(cases)
    result.state = grade.state_of(result)
    return result


class FolderTest(unittest.TestCase):

    def test_the_tests_of_one_program_are_found_without_reading_all_others(self):
        with tempfile.TemporaryDirectory() as name, \
                mock.patch("learn.build.folder", return_value=Path(name)):
            alone = Path(name, "ctest", "day01_one")
            self.assertEqual(ctest.folder("day01_one"), Path(name))
            alone.mkdir(parents=True)
            (alone / "CTestTestfile.cmake").touch()
            self.assertEqual(ctest.folder("day01_one"), alone)
            self.assertEqual(ctest.folder("day01_two"), Path(name))
            self.assertEqual(ctest.folder(""), Path(name))


class FunctionsTest(unittest.TestCase):
    """A case ends at the first function that fails, and tells nothing of the others."""

    @staticmethod
    def case(name, outcome, **functions):
        return grade.Case(name, outcome, functions=functions)

    def test_a_function_that_a_failed_case_may_have_graded_is_not_called_right(self):
        result = graded(
            self.case("refused", "passed", sum="passed", maximum="passed"),
            self.case("zeros", "passed", sum_bf16="passed"),
            self.case("sums", "failed", sum="failed"),
            self.case("scans", "passed", scan="passed"))
        self.assertEqual(
            {"sum": "failed", "maximum": "open", "sum_bf16": "open", "scan": "passed"},
            result.functions)
        self.assertEqual((1, 4), grade.number_right(result))

    def test_those_before_the_failed_one_are_right(self):
        result = graded(
            self.case("sums", "failed", sum="passed", sum_bf16="failed"),
            self.case("more", "unsolved", sum="passed", sum_bf16="unsolved"),
            self.case("refused", "unsolved", sum_bf16="unsolved"))
        self.assertEqual({"sum": "passed", "sum_bf16": "failed"}, result.functions)


class PassesTest(unittest.TestCase):
    """A pass is recalled for the same program alone."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = Path(folder.name, "program")
        self.program.write_bytes(Path("/bin/true").read_bytes())
        on_cpu = mock.Mock(on_gpu=False, folder=folder.name)
        for where, name, value in ((passes, "FOLDER", Path(folder.name, "passed")),
                                   (preset, "chosen", lambda: on_cpu)):
            patch = mock.patch.object(where, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.mark = passes.fingerprint(self.program)
        passes.remember("day01.x", self.mark, [judged(document())])

    def test_the_same_program_has_passed(self):
        self.assertEqual(passes.fingerprint(self.program), self.mark)
        self.assertEqual(passes.recall("day01.x", self.mark),
                         [["adds", "passed", "", "day01.vector_add.adds"]])

    def test_what_a_failing_program_writes_there_is_forgotten(self):
        def run(result, *_, **__):
            passes.remember("day01.vector_add", self.mark, [judged(document())])
            result.state = "failing"

        program = mock.Mock(return_value=self.program)
        with mock.patch.object(grade, "run_cases", run), \
                mock.patch.object(grade.build, "program", program):
            result = grade.Grade(CHAPTER)
            grade.run_or_recall(result)
            self.assertEqual(result.state, "failing")
        self.assertEqual(passes.recall("day01.vector_add", self.mark), [])

    def test_another_program_has_not(self):
        with self.program.open("ab") as file:
            file.write(b"!")
        mark = passes.fingerprint(self.program)
        self.assertNotIn(mark, ("", self.mark))
        self.assertEqual(passes.recall("day01.x", mark), [])

    def test_another_library_or_order_of_threads_is_another_program(self):
        with mock.patch.dict(os.environ, {"SIMT_SEED": "7"}):
            self.assertNotEqual(passes.fingerprint(self.program), self.mark)
        library = Path(self.program.parent, "lib.so")
        library.write_bytes(b"1")
        said = mock.Mock(returncode=0, stdout=f"lib.so => {library} (0x1)")
        with mock.patch.object(passes.subprocess, "run", return_value=said):
            before = passes.fingerprint(self.program)
            library.write_bytes(b"2")
            self.assertNotEqual(passes.fingerprint(self.program), before)

    def test_what_cannot_be_told_is_run(self):
        self.assertEqual(passes.fingerprint(None), "")
        self.assertEqual(passes.recall("day01.x", ""), [])
        self.assertEqual(passes.recall("day01.y", self.mark), [])
        Path(passes.FOLDER, "day01.x").write_text('{"mark"')
        self.assertEqual(passes.recall("day01.x", self.mark), [])

    def test_verbose_runs_the_tests_again(self):
        with mock.patch.object(ui.Settings, "verbose", True):
            self.assertEqual(passes.recall("day01.x", self.mark), [])


class CheckerTest(unittest.TestCase):
    def test_a_race_is_unsafe_and_a_refused_launch_is_not(self):
        self.assertTrue(verdicts.is_of_checker(verdicts.Record(RACE)))
        refused = verdicts.Record(kind="refused_launch", text=["1025 threads"])
        self.assertFalse(verdicts.is_of_checker(refused))


class Documents(unittest.TestCase):
    def test_half_a_document_or_another_format_is_none(self):
        self.assertIsNone(read('{"format": "warpbook verdict 1", "ca'))
        self.assertIsNone(read(json.dumps({**document(), "format": "other"})))
        self.assertIsNone(read("[]"))
        self.assertIsNone(verdicts.read(Path("/nowhere/verdict.json")))

    def test_is_where_ctest_says(self):
        file = verdicts.file_of(Path("build"), "day01.one.adds to -1 (ends, at zero)")
        name = "day01.one.adds_to_-1__ends__at_zero_.json"
        self.assertEqual(file, Path("build/verdicts", name))

    def test_findings_outside_of_cases_count(self):
        verdict = read(json.dumps({**document(), "findings": [RACE]}))
        self.assertEqual([f.kind for f in verdicts.findings(verdict)], ["race"])


class Cases(unittest.TestCase):
    def test_has_passed_only_if_its_program_came_to_the_end(self):
        self.assertEqual(judged(document()).outcome, "passed")
        for wrong in (
            judged(document(ended=False)), judged(document("running", ended=False)),
            judged(document(), outcome="failed", ending="SEGFAULT"),
            judged(document("passed"), outcome="notrun"), judged(None)):
            self.assertEqual(wrong.outcome, "failed")

    def test_keeps_its_verdict(self):
        self.assertEqual(judged(document("failed", findings=[WRONG])).outcome, "failed")
        unsolved = judged(document("unsolved", findings=[UNSOLVED]), "failed")
        self.assertEqual(unsolved.outcome, "unsolved")
        skipped = judged(document("skipped", reason="no sm_90"), "skipped")
        self.assertEqual((skipped.outcome, skipped.reason), ("skipped", "no sm_90"))
        self.assertEqual(judged(document("not_run"), "skipped").outcome, "not_run")


class States(unittest.TestCase):
    PASSED = grade.Case("p", "passed")
    FAILED = grade.Case("f", "failed")
    UNSOLVED = grade.Case("u", "unsolved")
    SKIPPED = grade.Case("s", "skipped", reason="no sm_90")
    NOT_RUN = grade.Case("n", "not_run")

    def test_a_wrong_case_comes_before_one_that_is_not_solved(self):
        result = graded(self.UNSOLVED, self.FAILED, self.PASSED)
        self.assertEqual((result.state, result.first.name), ("failing", "f"))
        self.assertEqual(graded(self.UNSOLVED, self.PASSED).state, "unsolved")

    def test_what_is_wrong_comes_before_what_was_stopped(self):
        slow = judged(document("failed", findings=[
            {"kind": "time_limit", "text": ["did not end"]}]))
        killed = judged(None, "failed", "Timeout")
        wrong = judged(document("failed", findings=[RACE]))
        self.assertIs(graded(slow, killed, wrong).first, wrong)
        self.assertIs(graded(slow, killed).first, slow)
        both = judged(document("failed", findings=[
            RACE, {"kind": "time_limit", "text": ["did not end"]}]))
        self.assertIs(graded(slow, both, wrong).first, both)

    def test_what_is_no_pass(self):
        self.assertEqual(graded(self.PASSED, self.SKIPPED).state, "passed")
        self.assertEqual(graded(self.SKIPPED).state, "skipped")
        self.assertEqual(graded(self.PASSED, self.NOT_RUN).state, "stopped")
        self.assertEqual(graded().state, "notests")


class Functions(unittest.TestCase):
    @staticmethod
    def case(verdict, **functions):
        one = document(verdict, findings=[UNSOLVED] if verdict == "unsolved" else [])
        one["cases"][0]["functions"] = functions
        return judged(one, "passed" if verdict == "passed" else "failed")

    def test_have_the_worst_verdict_of_all_cases(self):
        result = graded(
            self.case("unsolved", v1="passed", v2="unsolved"),
            self.case("passed", v2="passed", v3="passed"),
            self.case("failed", v1="passed", v3="failed"))
        self.assertEqual(
            result.functions, {"v1": "passed", "v2": "unsolved", "v3": "failed"})
        self.assertEqual(grade.number_right(result), (1, 3))

    def test_that_are_given_are_counted_beside_the_learners_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "table.h").write_text("void find(int n);\nvoid keep();\n")
            Path(folder, "table.cu").write_text(
                "// keep()\nvoid find(int n) {\n    WB_NOT_SOLVED();\n}\n")
            result = grade.Grade(Chapter("day01", folder, "table", False))
            for found, right in (("unsolved", 0), ("passed", 2)):
                result.cases = [grade.Case(
                    "c", "unsolved", functions={"keep": "passed", "find": found})]
                self.assertEqual(grade.number_right(result), (right, 2))

    def test_stand_in_the_order_of_versions(self):
        names = ("append", "dot_v10", "dot", "dot_v2", "append_v1")
        result = graded(self.case("passed", **dict.fromkeys(names, "passed")))
        self.assertEqual(list(result.functions),
                         ["append_v1", "append", "dot_v2", "dot_v10", "dot"])

    def test_stand_in_the_order_of_the_contract(self):
        names = ("find", "clear_v1", "clear", "other", "add", "find_v1")
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "table.h").write_text(
                "// clear(), find()\nvoid add(int n);\nvoid find();\nvoid clear();\n")
            for stage in (False, True):
                name = "table_fast" if stage else "table"
                result = grade.Grade(Chapter("day01", folder, name, stage))
                result.cases = [grade.Case("c", "failed", functions=dict.fromkeys(
                    names, "passed"))]
                self.assertEqual(
                    list(result.functions),
                    ["add", "find_v1", "find", "clear_v1", "clear", "other"])

    def test_only_one_is_no_list(self):
        result = graded(self.case("passed", f="passed", **{"f and g": "passed"}))
        self.assertEqual(result.functions, {})

    def test_the_map_shows_halves(self):
        entry = progress.Entry("unsolved", "2026-01-01", "-", 0, "1/2")
        line = map._line(CHAPTER.folder, entry, False)
        self.assertIn("[~] 02-vector-add", line)
        self.assertIn("1 of 2 functions right", line)


class Goals(unittest.TestCase):
    def test_are_of_what_the_stage_asks_to_write(self):
        first = Chapter("day01", "folder", "table", False)
        self.assertEqual(safety._goals_of(first), "[goal]~[fast]")
        faster = Chapter("day01", "folder", "table_fast", True)
        self.assertEqual(safety._goals_of(faster), "[goal]~[first]")


class Memory(unittest.TestCase):
    def test_what_the_learners_code_writes_is_not_believed(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.object(safety, "FOLDER", Path(folder)))
            stack.enter_context(mock.patch.object(safety, "is_wanted", lambda: True))
            stack.enter_context(
                mock.patch.object(safety.build, "has_target", lambda name: True))
            stack.enter_context(
                mock.patch.object(safety, "_build", lambda grade: None))
            written = [safety._fingerprint(CHAPTER), "safe"]
            for known, state, words in ((written, "passed", "safe"),
                                        ([], "unchecked", "unbuilt")):
                for part in ("cases", "goals"):
                    Path(folder, f"{CHAPTER.key}.{part}.json").write_text(
                        json.dumps(document()))
                Path(folder, CHAPTER.key).write_text(" ".join(written))
                result = graded(grade.Case("p", "passed"))
                safety.judge(result, known, str)
                self.assertEqual((result.state, result.safety.state), (state, words))


class Reports(unittest.TestCase):
    def setUp(self):
        chosen = preset.Preset("sim", "")
        patch = mock.patch.object(preset, "chosen", lambda: chosen)
        patch.start()
        self.addCleanup(patch.stop)
        environment = mock.patch.dict(os.environ, {"NO_COLOR": "1"})
        environment.start()
        os.environ.pop("COLUMNS", None)
        self.addCleanup(environment.stop)

    def shown(self, result):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            report.show(result)
        return out.getvalue()

    def test_headline_first_failing_case_next_step(self):
        wrong = judged(document("failed", findings=[WRONG]), "failed")
        text = self.shown(graded(wrong, grade.Case("p", "passed"))).split("\n")
        words = "NOT RIGHT YET, 1 of 2 cases fail in the simulator"
        self.assertEqual(text[0], f"day01/02-vector-add: {words}")
        self.assertEqual(text[2:5], ["  First failing case: adds",
                                     "    vector_add, n = 33, seed 1",
                                     "      c is wrong in 33 of 33 elements"])
        self.assertIn("./learn hint vector_add", text[-2])

    def test_functions_one_by_one(self):
        one = Functions.case("unsolved", v1="passed", v2="unsolved")
        lines = self.shown(graded(one)).split("\n")
        self.assertIn("NOT SOLVED YET, 1 of 2 functions right", lines[0])
        self.assertEqual(lines[1:4], ["  v1: right", "  v2: not solved yet",
                                      "  Races are looked for when all are written."])
        one = Functions.case("unsolved", v1="unsolved")
        self.assertTrue(self.shown(graded(one)).split("\n")[0].endswith("SOLVED YET"))

    def test_a_case_that_hangs(self):
        hang = {"kind": "time_limit", "text": ["did not end within 2 seconds"],
                "numbers": {"measured": 2.03, "allowed": 2.0}}
        text = self.shown(graded(judged(document("failed", findings=[hang]), "failed")))
        self.assertIn("It did not end within 2 seconds: is there a loop", text)
        self.assertIn("--time-limit 8", text)

    def test_which_case_keeps_others_from_running(self):
        slow = grade.Case("loops", "failed", ending="Timeout")
        late = grade.Case("late", "not_run")
        text = self.shown(graded(slow, late))
        self.assertIn("Not run, because this one took so long: 1 case.", text)
        wrong = judged(document("failed", findings=[WRONG]), "failed")
        text = self.shown(graded(slow, wrong, late))
        self.assertIn("First failing case: adds", text)
        self.assertIn('Not run, because "loops" took so long: 1 case.', text)

    def test_a_program_that_ends_itself(self):
        text = self.shown(graded(judged(document("running", ended=False))))
        self.assertIn("does your code end it?", text)
        words = "the program was ended by exit(0), before its tests had ended"
        early = {"kind": "ended_early", "detail": "exit", "text": [words]}
        for one in (
                document("failed", False, [early]),
                {**document(ended=False), "findings": [early]}):
            text = self.shown(graded(judged(one, "failed")))
            self.assertIn(words, " ".join(text.split()))
            self.assertNotIn("does your code", text)

    def test_only_races_are_explained_by_the_order_of_threads(self):
        for finding, words, order in ((RACE, "RIGHT, BUT RACY", True),
                                      ({**RACE, "kind": "uninitialised"},
                                       "RIGHT, BUT NOT SAFE", False)):
            result = graded(grade.Case("p", "passed"))
            verdict = read(json.dumps(document(findings=[finding])))
            found = verdicts.findings(verdict)
            result.state, result.safety = "unsafe", safety.Safety("unsafe", found)
            text = self.shown(result)
            self.assertIn(words, text)
            self.assertEqual("order" in text, order)
