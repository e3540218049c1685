"""Mutation testing: what each operator makes of a line, and how the text is woven."""

import os
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from learn import ui
from learn.course import Chapter
from learn.mutate import shuffled
from learn.mutation import known, ladder, programs, quick
from learn.mutation.code import Code
from learn.mutation.hunt import Hunt, Run
from learn.mutation.mutant import number_mutants
from learn.mutation.operators import OPERATORS
from learn.mutation.part import Part
from learn.mutation.weave import weave

KERNEL = "__global__ void f_v1(const float* a, int64_t n, int row, int col) {\n%s\n}\n"
LAUNCHER = "static void f_v2(const float* a, int64_t n, cudaStream_t stream) {\n%s\n}\n"


def mutants(operator: str, line: str, around: str = KERNEL):
    code = Code("f.cu", around % line)
    return [m for f in code.functions for m in OPERATORS[operator](code, f)]


def lines(operator: str, line: str, around: str = KERNEL) -> list[str]:
    """The line after each of an operator's mistakes."""
    return ["".join(m.changed_line()[1]).strip()
            for m in mutants(operator, line, around)]


class Operators(unittest.TestCase):
    """An input line, and its mutants."""

    def test_boundary(self):
        self.assertEqual(lines("boundary", "if (i < n) a[i] = 0;"),
                         ["if (i <= n) a[i] = 0;"])
        self.assertEqual(lines("boundary", "f<int>(a >= b);"), ["f<int>(a > b);"])
        self.assertEqual(lines("boundary", "constexpr bool b = 1 < 2;"), [])

    def test_what_a_second_stage_has_for_itself_is_left_out(self):
        contract = "#ifndef WB_VERSION_ONLY\nvoid f(int n) {\n%s\n}\n#endif\n"
        line = "if (1 < n) return;"
        code = Code("f.cu", (KERNEL + contract) % (line, line))
        self.assertEqual([f.name for f in code.functions], ["f_v1"])

    def test_equality(self):
        self.assertEqual(lines("equality", "if (lane == 0) x = 1;"),
                         ["if (lane != 0) x = 1;"])

    def test_arithmetic(self):
        self.assertEqual(lines("arithmetic", "const float* p = a + b * c;"),
                         ["const float* p = a - b * c;", "const float* p = a + b + c;"])
        self.assertEqual(lines("arithmetic", "float t[D + 1] = {};"), [])
        constant = "constexpr int f(int n) {\n%s\n}\n"
        self.assertEqual(lines("arithmetic", "return 2 * n;", constant), [])
        self.assertEqual(lines("arithmetic", "x = y[sizeof(float) % n];"),
                         ["x = y[sizeof(float) / n];"])

    def test_a_mutant_needs_a_gpu_only_where_a_gpu_is_asked(self):
        narrow, cut = mutants("narrow", "p += row * n;")[0], mutants(
            "cut", "p = row * n;")[0]
        narrow.number = cut.number = 0
        hunt = Hunt(None, [], 1)
        hunt.seen = {Run(0, "small"): b"\x01"}  # reached, and the same
        self.assertFalse(hunt.needs_gpu(narrow))
        hunt.skipped = {"more than 2^31 elements"}
        self.assertTrue(hunt.needs_gpu(narrow))
        self.assertFalse(hunt.needs_gpu(cut))
        self.assertTrue(hunt.fits(narrow))
        hunt.seen = {Run(0, "small"): b"\x05"}  # reached, of a type of 32 bits
        self.assertFalse(hunt.fits(narrow))

    def test_narrow(self):
        self.assertEqual(lines("narrow", "p += row * n;"), ["p += int(row * n);"])

    def test_cut(self):
        self.assertEqual(lines("cut", "p = row * n;"),
                         ["p = row * min(n, 64);", "p = row * min(n, 128);"])
        self.assertEqual(lines("cut", "p = row * kTile + i * 4;"), [])
        self.assertEqual(lines("cut", "p = row * sizeof(float);"), [])
        unrolled = "for (int i = 0; i < kTile; ++i) p = 8 * i;"
        self.assertEqual(lines("cut", unrolled), [])

    def test_percent(self):
        self.assertEqual(lines("percent", "s += x * y;"), ["s += x * 1.01f * y;"])

    def test_loop_cut(self):
        self.assertEqual(
            lines("loop_cut", "for (int i = 0; i < n; ++i) s += a[i];"),
            ["for (int i = 0; i < 1024 && i < n; ++i) s += a[i];"])
        for end in ("kThreads", "D", "T::TM"):
            line = f"for (int i = 0; i < {end}; ++i) s += a[i];"
            self.assertEqual(lines("loop_cut", line), [])

    def test_condition(self):
        self.assertEqual(
            lines("condition", "if (i < n && ok) x = 1;"),
            ["if (true && ok) x = 1;", "if (false && ok) x = 1;",
             "if (i < n && true) x = 1;", "if (i < n && false) x = 1;"])
        self.assertEqual(lines("condition", "for (int i = 0; i < n; ++i) x = 1;"),
                         ["for (int i = 0; false; ++i) x = 1;"])
        self.assertEqual(lines("condition", "x = ok ? 1 : 2;"),
                         ["x = true ? 1 : 2;", "x = false ? 1 : 2;"])
        self.assertEqual(lines("condition", "if constexpr (D == 64) x = 1;"), [])

    def test_off_by_one(self):
        self.assertEqual(lines("off_by_one", "x = a[i];"),
                         ["x = a[i + 1];", "x = a[i - 1];"])
        self.assertEqual(lines("off_by_one", "x = n / 4;"), ["x = n / 5;"])
        # More shared memory is only slower.
        self.assertEqual(lines("off_by_one", "k<<<1, t, 0, stream>>>(a);", LAUNCHER),
                         ["k<<<2, t, 0, stream>>>(a);"])

    def test_minus_infinity(self):
        self.assertEqual(lines("minus_infinity", "float m = -INFINITY;"),
                         ["float m = 0.0f;"])

    def test_initial(self):
        self.assertEqual(lines("initial", "float s = 0.0f;"), ["float s = 1.0f;"])
        self.assertEqual(lines("initial", "x = 1.0f / s;"), ["x = 0.0f / s;"])

    def test_accumulate_half(self):
        self.assertEqual(lines("accumulate_half", "s += x * y;"),
                         ["s = half(s + x * y);"])

    def test_overwrite(self):
        self.assertEqual(lines("overwrite", "s += x;"), ["s = x;"])

    def test_drop(self):
        self.assertEqual(lines("drop", "__syncthreads();"), [""])
        self.assertEqual(mutants("drop", "__syncthreads();")[0].after, "nothing")
        self.assertEqual(lines("drop", "if (i >= n) return;"), ["if (i >= n)"])
        for kept in ("int i = 0;", "CUDA_CHECK_LAUNCH();", "(void)x;", "return x;",
                     "__align__(16) float r[4];", "alignas(16) float r[4];"):
            self.assertEqual(mutants("drop", kept), [])
        inside = "for_dims(d, [&](auto dim) {\n    g(dim);\n});"
        self.assertEqual([m.before for m in mutants("drop", inside)][-1], "g(dim);")

    def test_barrier(self):
        self.assertEqual(lines("barrier", "__syncthreads();"), ["__syncwarp();"])

    def test_bound(self):
        self.assertEqual(lines("bound", "x = min(n - i, 32);"),
                         ["x = n - i;", "x = 32;"])

    def test_other_function(self):
        self.assertEqual(lines("other_function", "x = expf(s - m);"),
                         ["x = exp2f(s - m);"])
        self.assertEqual(lines("other_function", "atomicAdd(p, x);"),
                         ["plain_add(p, x);"])

    def test_stream(self):
        self.assertEqual(lines("stream", "k<<<g, b, 0, stream>>>(a);", LAUNCHER),
                         ["k<<<g, b, 0, nullptr>>>(a);"])

    def test_static_local(self):
        self.assertEqual(lines("static_local", "const bool c = n > 0;", LAUNCHER),
                         ["static const bool c = n > 0;"])
        self.assertEqual(lines("static_local", "const bool c = n > 0;"), [])
        for same in ("auto kernel = f_v1_kernel<D>;", "size_t b = 2 * kRows * D;"):
            self.assertEqual(lines("static_local", f"const {same}", LAUNCHER), [])

    def test_template_argument(self):
        self.assertEqual(lines("template_argument", "x = wait<1>(a) + f<true>(b);"),
                         ["x = wait<2>(a) + f<true>(b);",
                          "x = wait<1>(a) + f<false>(b);"])

    def test_word(self):
        self.assertEqual(lines("word", "x = a[row * n];"), ["x = a[col * n];"])
        self.assertEqual(lines("word", "const int i = threadIdx.x;\ni += 1;")[0],
                         "const int i = threadIdx.y;")

    def test_every_operator_is_tested_and_described(self):
        tests = {name.removeprefix("test_") for name in dir(self)}
        table = (Path(__file__).parents[3] / "docs/mutation.md").read_text()
        for name, operator in OPERATORS.items():
            self.assertIn(name, tests)
            self.assertIn(f"| `{name}` | {' '.join(operator.__doc__.split())} |", table)


class Names(unittest.TestCase):
    TEXT = KERNEL % "a[i] = b[i];\n    a[i] = b[i];"

    def keys(self, text: str) -> list[str]:
        code = Code("f.cu", text)
        return [m.key for m in number_mutants(
            [m for f in code.functions for m in OPERATORS["drop"](code, f)])]

    def test_mutants_are_named_by_their_words(self):
        self.assertEqual(self.keys(self.TEXT), [
            "f_v1: drop: a[i] = b[i]; -> nothing",
            "f_v1: drop: a[i] = b[i]; -> nothing (2)"])
        moved = "\n\nint g() {\n    return 1;\n}\n" + self.TEXT.replace(" = ", "  =\n")
        self.assertEqual(self.keys(moved), self.keys(self.TEXT))

    def test_a_version_is_in_the_name(self):
        code = Code(
            "f.cu", KERNEL % "" + LAUNCHER % "" + "struct S {\n  int g() {}\n};")
        self.assertEqual([(f.name, f.version, f.on_device) for f in code.functions],
                         [("f_v1", 1, True), ("f_v2", 2, False), ("S::g", 0, False)])

    def test_the_seed_decides_and_new_mutants_do_not(self):
        code = Code(
            "f.cu", KERNEL % "if (i < n && j < n && k <= n) a[i] = b[j] + c[k];")
        some = number_mutants([m for f in code.functions for o in ("boundary", "drop")
                               for m in OPERATORS[o](code, f)])
        order = [m.key for m in shuffled(some, 1)]
        self.assertEqual(order, [m.key for m in shuffled(some[::-1], 1)])
        self.assertNotEqual(order, [m.key for m in shuffled(some, 3)])
        fewer = [m.key for m in shuffled([m for m in some if m.key != order[0]], 1)]
        self.assertEqual([k for k in order[1:] if "boundary" in k],
                         [k for k in fewer if "boundary" in k])


class Weaving(unittest.TestCase):
    def woven(self, line: str, *operators: str) -> str:
        code = Code("f.cu", KERNEL % line)
        some = [m for f in code.functions for o in operators
                for m in OPERATORS[o](code, f)]
        for number, mutant in enumerate(some):
            mutant.number = number
        text = weave(code, some, "f.cu").replace("::wb_mutant::", "")
        return text.split("\n")[3]

    def test_one_sign_has_several_meanings(self):
        self.assertEqual(
            self.woven("x = row * n;", "arithmetic", "narrow"),
            "x = row * Op<times<-1>, plus<0>, narrow<1>>{} * n;")

    def test_what_lies_inside_stays_inside(self):
        self.assertEqual(
            self.woven("if (i < n) s += x;", "boundary", "condition", "drop",
                       "accumulate_half"),
            "if (always<1>(never<2>(i < Op<less<-1>, less_equal<0>>{} > n)))"
            " { if (is<3>()) ; else { s += x; round_to_half<4>(s); } }")

    def test_a_method_is_not_called_of_a_copy(self):
        self.assertEqual(self.woven("row.advance(); x = row.stage;", "word"),
                         "(is<0>() ? col : row).advance();"
                         " x = pick<1>(row, col).stage;")

    def test_no_line_is_added(self):
        text = KERNEL % "x =\n    min(\n        a, b);"
        code = Code("f.cu", text)
        some = number_mutants([m for f in code.functions for o in OPERATORS.values()
                               for m in o(code, f)])
        woven = weave(code, some, "f.cu")
        self.assertEqual(woven.count("\n"), text.count("\n") + 2)

    def test_a_constant_with_a_mutant_is_none(self):
        self.assertEqual(self.woven("const int n = 2 * D;", "arithmetic"),
                         " int n = 2 * Op<times<-1>, plus<0>>{} * D;")
        self.assertEqual(self.woven("const int* p = q + D;", "arithmetic"),
                         "const int* p = q + Op<plus<-1>, minus<0>>{} + D;")
        self.assertEqual(self.woven("const int n = 2 * D;", "drop"),
                         "const int n = 2 * D;")


class Ladder(unittest.TestCase):
    """Which version runs."""

    def test_the_contract_calls_the_chosen_version(self):
        code = Code("f.cu", "void f_v1(int n) {}\nvoid f_v2(int n) {}\n"
                            "void f(int n) {\n    f_v2(n);\n}\n")
        self.assertIn("([&](auto&&... a) { WB_MUTANT_RUN(1, (f_v1(a...)))"
                      " return f_v2(a...); })(n);", weave(code, [], "f.cu"))

    def test_a_version_in_another_file_is_known(self):
        other = Code("1.cuh", "template <class T>\nvoid f_v1(int n) {}\n")
        code = Code("f.cu", "template <class T>\nvoid f_v2(int n) {}\n"
                            "void f(int n) {\n    f_v2<T>(n);\n}\n")
        self.assertIn("WB_MUTANT_RUN(1, (f_v1<T>(a...)))"
                      " else WB_MUTANT_RUN(1, (f_v1(a...))) return f_v2<T>(a...);",
                      weave(code, [], "f.cu", ladder.versions([other, code])))

    def test_a_version_may_be_a_name_for_something_else(self):
        code = Code("f.cu", "void g(int n) {\n    f_v1(n);\n}\nvoid f_v1(int n) {}\n"
                            "constexpr auto& f_v2 = g;\nWB_RUNG(f, f_v2, \"idea\");\n"
                            "void f(int n) {\n    const auto version = f_v2;\n}\n")
        self.assertEqual(ladder.versions([code]), {"f": [1, 2]})
        woven = weave(code, [], "f.cu")
        self.assertIn("version = (::wb_mutant::version == 1 ? &f_v1 : &f_v2);", woven)
        self.assertIn("{\n    f_v1(n);\n}", woven)  # what f_v2 falls back on

    def test_versions_that_list_rung_is_given(self):
        text = """void f_v1(Call c) {}
            void f_v2(Call c) {}
            bool b = wb::list_rung("f", "v1", "idea", %s<half>, %s<bf16>);
            void f(const Shape& shape, T* q) {
                f_v2(call);
            }"""
        listed = '::wb_mutant::list_rung("f", "v1", "idea",'
        instead = "{ if (::wb_mutant::run_listed<2>(shape, q)) return;"
        wrapped = weave(Code("f.cu", text % (("around",) * 2)), [], "f.cu")
        self.assertIn(listed, wrapped)
        self.assertIn(instead, wrapped)
        plain = weave(Code("f.cu", text % (("f_v1",) * 2)), [], "f.cu")
        self.assertIn(listed, plain)
        self.assertNotIn(instead, plain)

    def test_what_other_versions_need_is_left_out(self):
        codes = [Code("f.cu", "void f_v1(int n) {}\nvoid f_v2(int n) { f_v1(n); }\n"
                              "void f_v3(int n) {}\nvoid f(int n) { f_v3(n); }\n")]
        self.assertEqual(ladder.unused(codes, {1}), {"f_v2", "f_v3"})
        self.assertEqual(ladder.unused(codes, {2}), {"f_v3"})
        self.assertEqual(ladder.unused(codes, {1, 3}), {"f_v2"})
        # The contract's function falls back on its own.
        self.assertEqual(ladder.unused(codes, {4}), {"f_v1", "f_v2"})

    def test_a_version_that_is_a_name_for_something_else_needs_nothing(self):
        code = Code("f.cu", """
void f_v1() { work(); }
constexpr auto f_v2 = tuned<2>;
WB_RUNG(f, f_v2, "tuned");
void f() { f_v1(); }
""")
        self.assertEqual(ladder.unused([code], {2}), {"f_v1"})


class Headers(unittest.TestCase):
    def test_those_between_woven_files_lie_beside_them(self):
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            self.addCleanup(os.chdir, before)
            chapter = Chapter("day01", "day01-basics/01-f", "f")
            for name, text in {"a.h": '#include "k.cuh"\n', "b.h": '#include "a.h"\n',
                               "c.h": "#include <k.cuh>\n", "k.cuh": ""}.items():
                file = Path(chapter.path, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            found = programs.headers_between(chapter, {"f.cu", "k.cuh"})
            self.assertEqual([header.name for header in found], ["a.h", "b.h"])
            self.assertEqual(programs.headers_between(chapter, {"f.cu"}), [])
            os.chdir(before)


class Known(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.before = os.getcwd()
        os.chdir(self.folder.name)
        self.chapter = Chapter("day01", "day01-basics/01-f", "f")
        known.file_of(self.chapter).parent.mkdir(parents=True)

    def tearDown(self):
        os.chdir(self.before)
        self.folder.cleanup()

    def read(self, text: str):
        known.file_of(self.chapter).write_text(text)
        return known.equivalents(self.chapter)

    def test_a_key_has_a_reason(self):
        self.assertEqual(
            self.read("# All are right.\n\nf: drop: g(); -> nothing  # slow"),
            {"f: drop: g(); -> nothing": "slow"})
        self.assertEqual(
            self.read("f: a -> b c\n    d\n    # slow, and\n    wrong: # is no mark\n"
                      "g: b  # short\n# All.\nh: c  # long\n    er"),
            {"f: a -> b c d": "slow, and wrong: # is no mark", "g: b": "short",
             "h: c": "long er"})
        for wrong in ("f: drop: g(); -> nothing", "f: x  # ", "k  # a\nk  # b",
                      "f: x\n    y", "f: x\n    #"):
            with self.assertRaises(ui.Stop):
                self.read(wrong)

    def test_scores_are_kept_in_the_order_of_chapters(self):
        known.SCORES.parent.mkdir(parents=True)
        other = Chapter("day01", "day01-basics/00-e", "e")
        known.save(self.chapter, {"score": 99.0})
        known.save(other, {"score": 98.0})
        known.save(self.chapter, {"score": 100.0})
        text = Path(known.SCORES).read_text()
        self.assertLess(text.index("00-e"), text.index("01-f"))
        self.assertIn('"score": 100.0', text)

    def test_a_part_is_what_the_chapter_does_not_have(self):
        solution = Path("solutions", self.chapter.path)
        solution.mkdir(parents=True)
        for name, text in (
                ("f.cu", '#include "shared.cuh"'), ("shared.cuh", ""),
                ("g.cu", '#include "shared.cuh"\n#include "own.cuh"'), ("own.cuh", "")):
            (solution / name).write_text(text)
        part = Part(self.chapter, "g")
        self.assertEqual([Path(code.path).name for code in programs.sources(part)],
                         ["g.cu", "own.cuh"])
        self.assertEqual(part.target, "day01_g")
        known.SCORES.parent.mkdir(parents=True)
        known.save(part, {"score": 97.0})
        self.assertIn('"day01-basics/01-f/g"', known.SCORES.read_text())
        known.file_of(part).write_text("h: c  # slow")
        self.assertEqual(known.equivalents(part), {"h: c": "slow"})


class QuickTest(unittest.TestCase):
    """What the score's file says of a mutant's killer may be out of date."""

    def dies(self, killed_by: str) -> bool:
        chapter = SimpleNamespace(label="day01/01-f", target="day01_f")
        mutant = SimpleNamespace(number=1, key="f: drop: x; -> nothing")
        outcome = programs.Outcome(killed_by, 0.1)
        with (mock.patch.object(quick.build, "program", return_value=Path("p")),
              mock.patch.object(programs.Program, "run", return_value=outcome),
              mock.patch.object(ui, "say"), mock.patch.object(ui, "note")):
            return quick._die(chapter, [(mutant, 1, "a case")])

    def test_killed(self):
        self.assertTrue(self.dies("wrong_result"))

    def test_alive(self):
        self.assertFalse(self.dies(""))

    def test_a_case_that_has_another_name_kills_nothing(self):
        self.assertFalse(self.dies(programs.NO_SUCH_CASE))


if __name__ == "__main__":
    unittest.main()
