"""The checked run in several processes reads like one of a single process."""

import contextlib
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from learn import build, grade, safety, shares, steps, verdicts
from learn.course import Chapter

CHAPTER = Chapter("day01", "day01-basics/02-vector-add", "vector_add")
NAMES = [f"case {number}" for number in range(6)]
RACE = {
    "kind": "race", "detail": "same_block", "times": 2, "text": ["RACE"],
    "places": [{"role": "access", "file": "a.cu", "line": 5, "kernel": "k"}]}
ENDED = {"kind": "ended_early", "detail": "exit", "text": ["was ended by exit(0)"]}

# Stands for wb_supervise and a checked program: a case's name says what becomes of it.
PROGRAM = r"""
import json, os, sys
cases = CASES
kinds = {"race": RACE, "ends": ENDED}
if sys.argv[1] == "--wb-list":
    print("\n".join(cases))
    sys.exit()
chosen = [c for c in cases if c in sys.argv[1].split(",")] or cases
done, ended = [], True
for number, case in enumerate(chosen, 1):
    if case == "is left out":
        continue
    word = case.split()[0]
    found = [kinds[word]] if word in kinds else []
    done.append({"name": case, "verdict": "failed" if word == "ends" else "passed",
                 "seconds": 0.5, "findings": found})
    if word == "ends":
        ended = False
        break
    if word == "hangs":
        import time; time.sleep(60)
    print(f"[{number}/{len(chosen)}] {case}", flush=True)
with open(os.environ["WB_VERDICT"], "w") as file:
    json.dump({"format": FORMAT, "ended": ended, "cases": done, "findings": []}, file)
sys.exit(0 if ended and not any(case["findings"] for case in done) else 1)
"""


def case(name, findings=(), verdict="passed"):
    return {"name": name, "verdict": verdict, "findings": list(findings)}


def ran(*cases, names=None, ended=True, outside=()):
    document = {
        "format": verdicts.FORMAT, "ended": ended, "cases": list(cases),
        "findings": list(outside)}
    record = json.loads(json.dumps(document), object_hook=verdicts.Record)
    return shares.Ran(names or [c["name"] for c in cases], 0, record)


def place(**changes):
    return {**RACE, "places": [{**RACE["places"][0], **changes}]}


class Dealing(unittest.TestCase):
    def test_each_case_is_in_one_share(self):
        for count in (1, 2, 4, 9):
            dealt = shares.deal(NAMES, {}, count)
            self.assertEqual(sorted(sum(dealt, [])), NAMES)
            self.assertEqual(len(dealt), min(count, len(NAMES)))

    def test_shares_take_equally_long_and_keep_the_order(self):
        seconds = dict(zip(NAMES, (0.1, 3, 1, 1, 0.9, 0.2)))
        dealt = shares.deal(NAMES, seconds, 2)
        self.assertEqual(dealt, [["case 0", "case 1"],
                                 ["case 2", "case 3", "case 4", "case 5"]])

    def test_a_name_is_no_pattern(self):
        names = ["one, two", r"a \ b", "x [y]"]
        self.assertEqual(shares.filter_of(names), r"one\, two,a \\ b,x \[y]")


class Merging(unittest.TestCase):
    def test_cases_stand_in_the_order_of_the_program(self):
        document = shares.merge(
            [ran(case(NAMES[0]), case(NAMES[3])), ran(case(NAMES[1]), case(NAMES[2]))],
            NAMES[:4])
        self.assertEqual([c["name"] for c in document["cases"]], NAMES[:4])
        self.assertTrue(document["ended"])

    def test_a_mistake_is_told_once_in_the_first_case(self):
        document = shares.merge(
            [ran(case("b", [RACE]), case("d", [place(line=9)])),
             ran(case("a"), case("c", [RACE]))], ["a", "b", "c", "d"])
        found = [len(c["findings"]) for c in document["cases"]]
        self.assertEqual(found, [0, 1, 0, 1])
        self.assertEqual(document["cases"][1]["findings"][0]["times"], 4)

    def test_two_mistakes_in_one_line_stay_two(self):
        document = shares.merge(
            [ran(case("a", [RACE, RACE])), ran(case("b", [RACE, RACE, RACE]))],
            ["a", "b"])
        found = [len(c["findings"]) for c in document["cases"]]
        self.assertEqual(found, [2, 1])

    def test_another_kernel_or_what_the_grader_finds_is_another_mistake(self):
        wrong = {"kind": "wrong_result", "places": []}
        document = shares.merge(
            [ran(case("a", [RACE, wrong])), ran(case("b", [place(kernel="l"), wrong]))],
            ["a", "b"])
        self.assertEqual([len(c["findings"]) for c in document["cases"]], [2, 2])

    def test_nothing_counts_behind_the_case_that_ended_the_program(self):
        document = shares.merge(
            [ran(case("a"), case("c", [ENDED], "failed"), names=["a", "c", "e"],
                 ended=False),
             ran(case("b"), case("d", [RACE]))], ["a", "b", "c", "d", "e"])
        self.assertEqual([c["name"] for c in document["cases"]], ["a", "b", "c"])
        self.assertFalse(document["ended"])

    def test_a_program_that_ends_behind_its_tests(self):
        document = shares.merge(
            [ran(case("a"), ended=False, outside=[ENDED]), ran(case("b", [RACE]))],
            ["a", "b"])
        self.assertFalse(document["ended"])
        self.assertEqual([f["kind"] for f in document["findings"]], ["ended_early"])
        self.assertEqual(len(document["cases"]), 2)

    def test_a_case_left_out_makes_no_verdict(self):
        whole = ran(case("a"))
        for other in (ran(case("b"), names=["b", "c"]), ran(case("c"), names=["b"]),
                      ran(names=["b"]), shares.Ran(["b"], 0, None)):
            self.assertIsNone(shares.merge([whole, other], ["a", "b", "c"]))


class CheckedRun(unittest.TestCase):
    """safety.py with a program that is made of the names of its cases."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def state(self, *cases, seconds=20, jobs=2):
        program = self.folder / "program.py"
        text = PROGRAM.replace("CASES", repr(list(cases))).replace("RACE", repr(RACE))
        text = text.replace("ENDED", repr(ENDED))
        program.write_text(text.replace("FORMAT", repr(verdicts.FORMAT)))
        command = [sys.executable, program]
        with contextlib.ExitStack() as stack:
            for where, name, value in (
                (safety, "FOLDER", self.folder), (safety, "is_wanted", lambda: True),
                (safety, "_build", lambda grade: command),
                (safety, "time_limit", lambda: seconds),
                (build, "has_target", lambda name: True),
                (build, "jobs", lambda: jobs),
                (build, "folder", lambda: self.folder),
                (grade, "time_limit", lambda: 20)):
                stack.enter_context(mock.patch.object(where, name, value))
            result = grade.Grade(CHAPTER)
            result.state = "passed"
            safety.judge(result, [], str)
        return result

    def test_a_race_in_any_share_is_found(self):
        for cases in (("race", "b", "c"), ("a", "race", "c"), ("a", "b", "race")):
            for jobs in (1, 2, 3):
                result = self.state(*cases, jobs=jobs)
                self.assertEqual(result.state, "unsafe")
                self.assertEqual(len(result.safety.findings), 1)
        log = (self.folder / f"{CHAPTER.key}.cases.log").read_text()
        self.assertEqual(sorted(re_case(log)), ["a", "b", "race"])

    def test_the_same_race_in_all_shares_is_one(self):
        result = self.state("race 1", "race 2", "c")
        self.assertEqual([f.times for f in result.safety.findings], [4])

    def test_a_share_that_ends_its_program_is_told(self):
        for jobs in (1, 2):
            result = self.state("a", "b", "ends it", "c", "d", jobs=jobs)
            self.assertEqual(result.state, "failing")
            self.assertEqual(result.safety.case, "ends it")
            self.assertEqual(result.safety.findings[0].kind, "ended_early")

    def test_a_case_left_out_is_no_pass(self):
        result = self.state("a", "b", "c", "is left out")
        self.assertEqual((result.state, result.safety.state),
                         ("unchecked", "incomplete"))
        self.assertEqual(self.state("a", "b", "c").state, "passed")

    def test_a_share_that_hangs_is_slow(self):
        result = self.state("a", "b", "hangs", seconds=1)
        self.assertEqual((result.state, result.safety.state), ("unchecked", "slow"))


def re_case(log):
    return [line.partition("] ")[2] for line in log.splitlines() if line[:1] == "["]


class Together(unittest.TestCase):
    def test_programs_run_at_the_same_time_and_are_counted_together(self):
        with tempfile.TemporaryDirectory() as folder:
            step = steps.Step("x: case", str)
            one, other = (
                steps.Run(["sh", "-c", f"touch {folder}/{mine};"
                           f" until [ -e {folder}/{his} ]; do sleep 0.01; done;"
                           " echo [2/3] $NAME; exit 3"],
                          Path(folder, f"{mine}.log"), {"NAME": mine})
                for mine, his in (("a", "b"), ("b", "a")))
            results = steps.run_together([one, other], step, seconds=20)
            self.assertEqual(results, [(3, "[2/3] a\n"), (3, "[2/3] b\n")])
            self.assertEqual(step.counted, "4 of 6")
            late = steps.Run(["sleep", "20"], Path(folder, "late"))
            quick = steps.Run(["true"], Path(folder, "quick"))
            results = steps.run_together([late, quick], None, seconds=2)
            self.assertEqual([r.status for r in results], [steps.TIMED_OUT, 0])


class Logs(unittest.TestCase):
    def test_of_two_programs_of_one_file_one_speaks(self):
        one = "[1/4] Building a_kernels.dir/a.cu.o\na.cu:1:2: warning: x\n"
        two = "[2/4] Building a_checked_kernels.dir/a.cu.o\nFAILED: y\na.cu:1:2: w\n"
        link = "[3/4] Linking a\n"
        self.assertEqual(build.without("a_checked", one + two + link), one + link)

    def test_what_one_cannot_say_is_asked_again(self):
        said = mock.Mock(side_effect=[
            steps.Result(1, "[1/2] Building a_checked\nFAILED: x\n"),
            steps.Result(0, "[1/1] Linking a\n")])
        with mock.patch.object(build, "targets", said):
            built, both = build.together("a", "a_checked", what="a")
        self.assertEqual((built.status, both), (0, False))
        self.assertEqual(said.call_args_list[1], mock.call("a", what="a"))
