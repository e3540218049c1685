"""Processes of multi_gpu_rank: what each says when something is wrong, and how soon.

    python3 rank_test.py PROGRAM CHECKPOINT
"""
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = sys.argv.pop(1)
TRAINED = sys.argv.pop(1)
VARIABLES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK")


def start(*options: str, **variables: str) -> subprocess.Popen:
    environment = {k: v for k, v in os.environ.items() if k not in VARIABLES}
    return subprocess.Popen(
        [PROGRAM, *options], env=environment | variables, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def says(process: subprocess.Popen) -> tuple[int, str]:
    out, _ = process.communicate(timeout=30)
    return process.returncode, out


class Alone(unittest.TestCase):
    def test_one_rank_computes(self):
        for variables in (
                {"RANK": "0", "WORLD_SIZE": "1"},
                {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"},
                {"PMI_RANK": "0", "PMI_SIZE": "1"}):
            status, out = says(start("--tokens", "3", **variables))
            self.assertEqual(status, 0, out)
            self.assertIn("rank 0 of 1: y is right on device 0", out)

    def test_a_trained_layer(self):
        one = {"RANK": "0", "WORLD_SIZE": "1"}
        status, out = says(start("--checkpoint", TRAINED, "--layer", "5",
                                 "--tokens", "2", **one))
        self.assertEqual(status, 0, out)
        self.assertIn("rank 0 of 1: y is right", out)
        for words, options, variables in (
                ("there is no layer 6: the model has 6",
                 ["--checkpoint", TRAINED, "--layer", "6"], one),
                ("/nowhere", ["--checkpoint", "/nowhere"], one),
                ("heads is 3, but must be a multiple of the number of ranks, 2",
                 ["--checkpoint", TRAINED, "--folder", "/nowhere"],
                 {"RANK": "0", "WORLD_SIZE": "2"}),
                ("--heads and --checkpoint", ["--checkpoint", TRAINED, "--heads", "4"],
                 one)):
            with self.subTest(words):
                status, out = says(start(*options, **variables))
                self.assertIn(status, (1, 2), out)
                self.assertIn(words, out)

    def test_wrong_variables_and_options(self):
        two = {"RANK": "0", "WORLD_SIZE": "2"}
        for words, options, variables in (
                ("RANK and WORLD_SIZE are not set", [], {}),
                ("RANK is set, but WORLD_SIZE is not", [], {"RANK": "0"}),
                ("RANK is 'x', but must be a number", [], two | {"RANK": "x"}),
                ("RANK is '', but must be a number", [], two | {"RANK": ""}),
                ("RANK is 2, but must be 0 to 1", [], two | {"RANK": "2"}),
                ("RANK is -1, but must be 0 to 1", [], two | {"RANK": "-1"}),
                ("WORLD_SIZE is 9, but must be 1 to 8", [], two | {"WORLD_SIZE": "9"}),
                ("WORLD_SIZE is 0", [], two | {"WORLD_SIZE": "0"}),
                ("--folder is missing", [], two),
                ("--folder needs a value", ["--folder"], two),
                ("there is no option --wide", ["--wide", "1"], two),
                ("--seconds must be 1 or more", ["--seconds", "0"], two),
                ("--tokens is 0, but must be", ["--tokens", "0"], two),
                ("--heads is 3, but must be a multiple", ["--heads", "3"], two),
                ("--hidden is 5, but must be a multiple", ["--hidden", "5"], two),
                ("but there", ["--folder", "/nowhere"], two | {"LOCAL_RANK": "99"})):
            with self.subTest(words):
                status, out = says(start(*options, **variables))
                self.assertEqual(status, 2, out)
                self.assertIn(words, out)
                self.assertIn("usage:", out)


class Together(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, rank: int, ranks: int, *options: str,
              seconds: int = 8) -> subprocess.Popen:
        return start("--folder", self.folder, "--seconds", str(seconds), *options,
                     RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_RANK="0")

    def test_a_rank_that_is_not_started(self):
        begin = time.monotonic()
        ranks = [self.start(r, 4, seconds=3) for r in (0, 2, 3)]
        for process in ranks:
            status, out = says(process)
            self.assertEqual(status, 1, out)
            self.assertIn(f"rank 1 has not come to {self.folder}", out)
            self.assertNotIn("rank 2 has not", out)
        self.assertLess(time.monotonic() - begin, 10)

    def test_ranks_that_disagree_about_the_sizes(self):
        ranks = [self.start(0, 2), self.start(1, 2, "--tokens", "7")]
        for process in ranks:
            status, out = says(process)
            self.assertEqual(status, 1, out)
            self.assertIn("rank 1 has N = 7, H = 8, D = 8, F = 16, "
                          "but rank 0 has N = 6", out)

    def test_ranks_that_disagree_about_their_number(self):
        self.assertEqual(says(self.start(1, 4, seconds=1))[0], 1)
        status, out = says(self.start(0, 2, seconds=1))
        self.assertEqual(status, 1, out)
        self.assertIn("said that there are 4 ranks, not 2", out)

    def test_two_that_call_themselves_the_same(self):
        ranks = [self.start(1, 4, seconds=3), self.start(1, 4, seconds=3)]
        texts = [says(process)[1] for process in ranks]
        self.assertIn("another process calls itself rank 1", "".join(texts))

    def test_a_folder_that_cannot_be(self):
        file = Path(self.folder, "file")
        file.write_text("")
        self.folder = str(file)
        status, out = says(self.start(0, 2))
        self.assertEqual(status, 1, out)
        self.assertIn(f"cannot write {file}", out)

    def test_what_an_earlier_run_has_left_is_no_answer(self):
        for _ in range(2):
            ranks = [self.start(r, 2, "--tokens", "7") for r in range(2)]
            for process in ranks:
                says(process)
        status, out = says(self.start(0, 2, seconds=1))  # among the files of both
        self.assertEqual(status, 1, out)
        self.assertIn("rank 1 has not come", out)

    def test_all_are_there(self):
        for process in [self.start(r, 2) for r in range(2)]:
            status, out = says(process)
            if "simulator" in out:  # its ranks are threads of one process
                self.assertEqual(status, 1, out)
                self.assertIn("all ranks are there, but the simulator's", out)
            else:  # two ranks on one GPU: NCCL refuses, or does not answer
                self.assertNotEqual(status, 2, out)


if __name__ == "__main__":
    unittest.main()
