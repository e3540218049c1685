"""Markdown at all widths: nothing is lost, nothing sticks out, columns stand
aligned."""

import re
import unittest

from learn import inline, lesson, markdown, ui

TABLE = """\
| size | v1 | time |
| --- | --- | ---: |
| one of them | 24.0 (46 %) | 1 |
| `a|b` | x | 10 |
"""


def render(text, columns=40, colour=False):
    return markdown.render(text, columns, "day01-basics/01-one", colour)


class Blocks(unittest.TestCase):
    def test_paragraphs_are_filled_between_words(self):
        text = "One two three four five\nsix seven, *eight* nine `ten` eleven **12**."
        self.assertEqual(
            render(text, 30),
            "One two three four five six\nseven, eight nine `ten` eleven\n12.")

    def test_a_word_longer_than_the_line_is_not_cut(self):
        self.assertEqual(render("a very/long/path/without/any/blanks b", 16),
                         "a\nvery/long/path/without/any/blanks\nb")

    def test_headings_are_underlined(self):
        self.assertEqual(render("# A b\n## C\ntext"), "A b\n═══\n\nC\n─\n\ntext")

    def test_lists_hang(self):
        text = "- one two three four five\n  six\n- seven\n\n  more\n1. a\n2. b"
        shown = "• one two three\n  four five six\n• seven\n\n  more\n1. a\n2. b"
        self.assertEqual(render(text, 18), shown)

    def test_code_stays_as_it_is(self):
        code = "```cpp\nint  x; // $a$ **b**\n\n  y\n```\nafter"
        self.assertEqual(render(code), "  int  x; // $a$ **b**\n\n    y\nafter")

    def test_formulas(self):
        source = "$$ l = \\sum_j e^{s_j}, \\qquad\n   o = \\frac{a}{b} $$"
        shown = render(f"so\n\n{source}\n\nand")
        self.assertEqual(shown, "so\n\n    l = ∑ⱼ e^(sⱼ),   o = a/b\n\nand")
        self.assertEqual(render(source, 24), "    l = ∑ⱼ e^(sⱼ),\n    o = a/b")

    def test_quotes(self):
        self.assertEqual(render("> a\n> b"), "│ a b")

    def test_links_name_files_of_the_checkout(self):
        self.assertEqual(render("[x](../../docs/xray.md#top)"), "x (docs/xray.md)")
        self.assertEqual(render("[x](https://a.b/c) <https://d.e>", 60),
                         "x (https://a.b/c) https://d.e")

    def test_styles_end_with_each_line(self):
        shown = render("**one two three**", 16, colour=True)
        self.assertEqual(shown, "\x1b[1mone two three\x1b[0m")
        for line in render("**one two three four five**", 16, colour=True).split("\n"):
            self.assertRegex(line, "^\x1b\\[1m.*\x1b\\[0m$")


class Tables(unittest.TestCase):
    def test_columns_are_aligned(self):
        self.assertEqual(
            render(TABLE).split("\n"),
            ["size         v1           time",
             "───────────  ───────────  ────",
             "one of them  24.0 (46 %)     1",
             "`a|b`        x              10"])

    def test_narrow_ones_wrap_their_cells(self):
        self.assertEqual(
            render(TABLE, 22).split("\n"),
            ["size     v1       time",
             "───────  ───────  ────",
             "one of   24.0        1",
             "them     (46 %)",
             "`a|b`    x          10"])

    def test_too_narrow_ones_become_blocks(self):
        wide = "| a | b | c |\n|---|---|---|\n| abcdefgh | ijklmnop | qrstuvwx |\n"
        self.assertEqual(render(wide, 20), "abcdefgh\n  b: ijklmnop\n  c: qrstuvwx")


class Lessons(unittest.TestCase):
    def test_every_lesson_fits_every_width(self):
        names = lesson.book_components()
        for file in sorted(ui.ROOT.glob("day*/*/lesson.md")):
            folder = str(file.parent.relative_to(ui.ROOT))
            text = lesson.plain_markdown(file.read_text(), folder, "x", False, names)
            words = set(re.findall(r"[A-Za-z]{4,}", text))
            for columns in (40, 66, 88):
                shown = markdown.render(text, columns, folder)
                margin = "    " if columns > 60 else "  "
                for line in shown.split("\n"):
                    is_long_word = " " not in line.strip(" •│")
                    if line.startswith(margin) or is_long_word:
                        continue  # code, formulas
                    self.assertLessEqual(inline.width(line), columns, f"{file}: {line}")
                self.assertNotRegex(shown, rf"</?({'|'.join(names)})\b|^<<< |^:::")
            missing = words - set(re.findall(r"[A-Za-z]{4,}", shown))
            self.assertLess(len(missing), len(words) // 20, f"{file}: {missing}")
