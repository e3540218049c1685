"""Formulas of the lessons, as a terminal shows them."""

import re
import unittest
from pathlib import Path

from learn import formula, ui


class Formulas(unittest.TestCase):
    def test_is_readable(self):
        for source, shown in {
            r"N^2": "N²", r"2^{-18}": "2⁻¹⁸", r"2.6 \cdot 10^{-6}": "2.6 · 10⁻⁶",
            r"1{,}000{,}000": "1,000,000", r"H_{kv} = H_q": "Hₖᵥ = H_q",
            r"\log \sum_j e^{s_j}": "log ∑ⱼ e^(sⱼ)", r"\log_2 e": "log₂ e",
            r"\frac{n u}{1 - n u}": "(n u)/(1 − n u)",
            r"-\infty - (-\infty)": "−∞ − (−∞)",
            r"\left\lfloor \frac{h}{G} \right\rfloor = 5": "⌊h/G⌋ = 5",
            r"1 / \sqrt{D}, \sqrt D, \sqrt{n + 1}": "1 / √D, √D, √(n + 1)",
            r"\texttt{blockIdx.x} \cdot \texttt{n}": "blockIdx.x · n",
            r"O \mathrel{+}= PV": "O += PV",
            r"t_\text{launch} + \max\left(a,\; b\right)": "t_launch + max(a, b)",
            r"p \bmod C \le 3 \qquad x \ne y": "p mod C ≤ 3   x ≠ y", r"\hat{x}": "x̂",
            r"\begin{aligned} a &= b \\ c &= d \end{aligned}": "a = b\nc = d",
            r"100\,\%": "100 %"}.items():
            self.assertEqual(formula.readable(source), shown, source)

    def test_leaves_no_command_of_the_lessons(self):
        lessons = sorted(ui.ROOT.glob("day*/*/lesson.md"))
        count = 0
        for lesson in map(Path, lessons):
            text = re.sub(r"```.*?```|`[^`]*`", "", lesson.read_text(), flags=re.DOTALL)
            for groups in re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", text, re.S):
                source = "".join(groups)
                count += 1
                shown = formula.readable(source)
                left = r"[\\{}$]|\b(frac|text|cdot|infty)\b"
                self.assertNotRegex(shown, left, source)
        self.assertGreater(count, 300)
