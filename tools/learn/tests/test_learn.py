"""The smaller parts: the command line, names, progress, compilers' errors, lint,
hints."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from learn import cli, compile_errors, hint, lint, progress, selection, steps, ui

LOG = """\
[1/4] Building CXX object x.o
FAILED: x.o
/usr/bin/c++ -c secret-command
In file included from {root}/a.h:1:
{root}/a.h:3:1: error: not in your file
    3 | x
      | ^
{root}/day01/one.cu:4:12: error: 'y' was not declared in this scope
    4 |     return y + 1;
{root}/day01/one.cu:4:12: note: suggested alternative
{root}/day01/one.cu:9:1: warning: unused variable 'z'
ninja: build stopped: subcommand failed.
"""


class CommandLine(unittest.TestCase):
    def parsed(self, *words):
        name, rest = cli._command_of(list(words))
        import importlib

        module = importlib.import_module(f"learn.{cli.COMMANDS[name]}")
        return cli._parse(name, module, rest)

    def tearDown(self):
        for name, value in vars(ui.Settings).items():
            if name in ("verbose", "assume_yes", "device", "time_limit", "colour"):
                usual = {"colour": True, "device": "auto"}
                setattr(ui.Settings, name, usual.get(name, 0))

    def test_options_may_stand_anywhere(self):
        options = self.parsed("-v", "--time-limit", "7", "check", "a", "--gpu", "b")
        self.assertEqual((options.command, options.chapters), ("check", ["a", "b"]))
        self.assertEqual((ui.Settings.time_limit, ui.Settings.device), (7, "gpu"))
        self.assertTrue(ui.Settings.verbose)

    def test_gpu_names_a_model_for_xray(self):
        options = self.parsed("xray", "a.cu", "--gpu", "T4", "--", "--size", "5")
        self.assertEqual((options.gpu, options.behind), ("t4", ["--size", "5"]))
        self.assertEqual(ui.Settings.device, "auto")

    def test_through_sudo_by_mistake(self):
        for user, number, words in (
            ("ada", 0, "Run it as ada"), ("ada", 1000, None), ("root", 0, None)):
            with (
                    self.subTest(user=user, number=number),
                    mock.patch.dict(os.environ, SUDO_USER=user),
                    mock.patch("os.geteuid", return_value=number),
                    mock.patch("learn.ui.warn") as warn):
                cli._warn_about_sudo()
                self.assertEqual(warn.called, words is not None)
                if words:
                    self.assertIn(words, warn.call_args[0][0])

    def test_slips_are_sentences(self):
        for words, sentence in {
            ("check", "--faster"): "./learn check has no option '--faster'",
            ("xray", "one", "--rung"): "--rung needs a value after it",
            ("map", "x"): "./learn map takes no argument, but was given 'x'.",
            ("check", "--time-limit", "soon"): "--time-limit needs a number of seconds",
            ("check", "--time-limit"): "--time-limit needs a value"}.items():
            with self.assertRaisesRegex(ui.Stop, sentence.replace("(", r"\(")):
                self.parsed(*words)


class Names(unittest.TestCase):
    def test_similar_words(self):
        names = ["vector_add", "flash_attention", "dot_product", "naive_attention"]
        for typed, meant in {
            "vector-ad": ["vector_add"], "dotproduct": ["dot_product"],
            "flsh": ["flash_attention"],
            "attention": ["flash_attention", "naive_attention"], "quicksort": []
        }.items():
            self.assertEqual(selection.similar(typed, names), meant, typed)


class Progress(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def test_remembers_the_first_pass_and_the_hints(self):
        progress.record_hints("day01.one", 2)
        progress.record_grade("day01.one", "passed")
        progress.record_grade("day01.one", "failing")
        progress.record_grade("day01.two", "unsolved")
        entry = progress.read("day01.one")
        self.assertEqual((entry.grade, entry.hints), ("failing", 2))
        self.assertTrue(entry.has_passed)
        self.assertFalse(progress.read("day01.two").has_passed)

    def test_a_damaged_file_is_no_obstacle(self):
        progress.FILE.parent.mkdir()
        progress.FILE.write_text("nonsense\n\nday01.one\nday01.two passed x - many\n")
        self.assertEqual(progress.read("day01.one"), progress.Entry())
        self.assertEqual(progress.read("day01.two").hints, 0)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_a_full_disk_leaves_it_as_it_was(self):
        progress.record_grade("day01.one", "passed")
        before = progress.FILE.read_text()
        os.symlink("/dev/full", f".learn/progress.{os.getpid()}")
        with self.assertRaisesRegex(ui.Stop, "could not be written"):
            progress.record_grade("day01.one", "failing")
        self.assertEqual(progress.FILE.read_text(), before)


class CompileErrors(unittest.TestCase):
    log = LOG.format(root=ui.ROOT)

    def test_the_learners_error_first_with_what_belongs_to_it(self):
        first = compile_errors.first(self.log, "day01/one.cu")
        self.assertEqual(len(compile_errors.errors(self.log)), 2)
        self.assertTrue(first.is_learners("day01/one.cu"))
        self.assertEqual(
            str(first),
            "day01/one.cu:4:12: error: 'y' was not declared in this scope\n"
            "    4 |     return y + 1;\nday01/one.cu:4:12: note: suggested alternative")

    def test_neither_commands_nor_ninja(self):
        text = compile_errors.compilers_text(self.log)
        self.assertNotIn("secret-command", text)
        self.assertNotIn("ninja", text)

    def test_an_undefined_name_of_the_contract_is_the_learners(self):
        mine = "/usr/bin/ld: x.o: in function `main':\n"
        mine += "x.cpp:5: undefined reference to `one(int)'"
        ours = mine.replace("one(int)", "wb::helper()")
        self.assertTrue(compile_errors.first(mine, "one.cu").is_learners("one.cu"))
        self.assertFalse(compile_errors.first(ours, "one.cu").is_learners("one.cu"))

    def test_nvcc(self):
        log = 'day01/one.cu(7): error: identifier "x" is undefined\n\n1 error detected'
        self.assertTrue(compile_errors.first(log, "day01/one.cu").is_learners("one.cu"))

    def test_warnings_of_the_learners_file(self):
        self.assertEqual(len(compile_errors.warnings(self.log, "day01/one.cu")), 1)


class Lint(unittest.TestCase):
    def test_code_is_neither_comment_nor_string(self):
        code = lint.code_of('a "asm" /* asm\nasm */ b // asm\n\'"\' c "\\"asm"')
        self.assertNotIn("asm", code)
        self.assertEqual(code.count("\n"), 2)

    def test_only_messages_about_the_file_are_believed(self):
        error = "k.cu:4:2: error: reference to __host__ function 'f' in __global__ f\n"
        note = "{}:1:7: note: 'f' declared here\n"
        sentence = 'calling a __host__ function("f") in a kernel is not allowed'
        mine, ours = note.format("k.cu"), note.format("common/simt/core/include/x.h")
        believed = lint.believed(error + mine, "k.cu")
        self.assertEqual(believed, [f"k.cu:4: error: {sentence}"])
        self.assertEqual(lint.believed(error + ours, "k.cu"), [])
        self.assertEqual(lint.believed(error, "k.cu"), [])


class Hints(unittest.TestCase):
    def test_are_the_texts_below_the_headings(self):
        text = "# Hints\n\n## Hint 1\n\nOne.\n\n## Other\n\nx\n\n## Hint 2\nTwo.\n"
        self.assertEqual(hint.hints_of(text), ["One.", "Two."])


class Steps(unittest.TestCase):
    def test_parts_of_a_build_in_words(self):
        for line, part in {
            "[1/9] Building CXX object common/simt/CMakeFiles/x.o": "the simulator",
            "[1/9] Building CXX object common/testing/x.o": "the grader",
            "[1/9] Linking CXX executable tests/day01_vector_add": "vector_add",
            "[1/9] Building day01_dot_product_learner_kernels.dir/x": "dot_product"
        }.items():
            self.assertEqual(steps.part_in_words(line), part)

    def test_a_time_limit_ends_a_program(self):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "log")
            result = steps.run(["sleep", "9"], log, seconds=0.2)
            self.assertEqual(result.status, steps.TIMED_OUT)
            self.assertEqual(steps.run(["no-such-program"], log).status, 127)

    def test_terminal_width(self):
        with mock.patch.dict(os.environ, {"COLUMNS": "30"}):
            text = ui.wrap("    one two three four five six seven")
        self.assertEqual(text, "    one two three four five\n      six seven")
