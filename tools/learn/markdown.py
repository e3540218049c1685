"""Markdown for a terminal of any width: paragraphs filled, lists with hanging indents,
tables aligned, formulas in Unicode. Code stays as it is.

It understands what the lessons use; lesson.py deals with what only the book knows.
"""

import re

from learn import formula, inline, table

USUAL_WIDTH = 88  # as wide as the sources, where there is no terminal or a wide one

FENCE = re.compile(r" {0,3}(```+|~~~+)")
HEADING = re.compile(r"(#{1,6}) +(.*?)(?: +#+)?$")
ITEM = re.compile(r"( {0,3})([-*+]|\d{1,3}[.)])( +)(.*)$")
UNDERLINES = {1: "═", 2: "─", 3: "┄"}


def render(text: str, columns: int, folder: str = "", colour: bool = False) -> str:
    """The text for a terminal; relative links refer to `folder`."""
    lines = _Blocks(max(columns, 16), folder, colour).render(text.split("\n"))
    return inline.finished("\n".join(lines), colour)


class _Blocks:
    """Turns blocks into lines, with styles as inline.py leaves them."""

    def __init__(self, columns: int, folder: str, colour: bool):
        self.columns, self.folder, self.colour = columns, folder, colour

    def render(self, source: list[str]) -> list[str]:
        result: list[str] = []
        position = 0
        while position < len(source):
            line = source[position]
            if not line.strip():
                position += 1
                if result and result[-1]:
                    result.append("")
                continue
            for block in (self.fence, self.heading, self.rule, self.item, self.quote,
                          self.formula, self.table, self.paragraph):
                if taken := block(source[position:], result):
                    position += taken
                    break
        while result and not result[-1]:
            result.pop()
        return result

    # Each of these looks at the lines that are left. If they begin with its kind of
    # block, it adds to the result and says how many of them it took; else 0.

    def fence(self, lines, result) -> int:
        if not (begin := FENCE.match(lines[0])):
            return 0
        end = next(
            (i for i, s in enumerate(lines[1:], 1) if s.strip() == begin[1]), len(lines)
        )
        margin = " " * (4 if self.columns > 60 else 2)
        result += [(margin + line).rstrip() for line in lines[1:end]]
        return end + 1

    def heading(self, lines, result) -> int:
        if not (match := HEADING.match(lines[0])):
            return 0
        title = inline.wrapped(self.inline(match[2]), self.columns)
        result += [inline.BOLD + line + inline.OFF for line in title]
        if underline := UNDERLINES.get(len(match[1])):
            result.append(underline * max(map(inline.width, title)))
        result.append("")
        return 1

    def rule(self, lines, result) -> int:
        if not re.fullmatch(r" {0,3}([-*_])( *\1){2,} *", lines[0]):
            return 0
        result.append("─" * self.columns)
        return 1

    def item(self, lines, result) -> int:
        if not (match := ITEM.match(lines[0])):
            return 0
        margin = len(match[1]) + len(match[2]) + len(match[3])
        body, taken = [match[4]], 1
        for line in lines[1:]:
            belongs = not line.strip() or line.startswith(" " * margin)
            lazy = body[-1].strip() and not self.begins_block(line)
            if not belongs and not lazy:
                break
            body.append(line[margin:] if belongs else line)
            taken += 1
        while not body[-1].strip():
            body.pop()
            taken -= 1
        mark = "•" if match[2] in "-*+" else match[2]
        indent = " " * (len(mark) + 1)
        inner = _Blocks(self.columns - len(indent), self.folder, self.colour)
        content = inner.render(body)
        result.append(f"{mark} {content[0]}" if content else mark)
        result += [(indent + line).rstrip() for line in content[1:]]
        return taken

    def quote(self, lines, result) -> int:
        if not lines[0].startswith(">"):
            return 0
        taken = next((i for i, s in enumerate(lines) if s[:1] != ">"), len(lines))
        inner = _Blocks(self.columns - 2, self.folder, self.colour)
        body = inner.render([re.sub("^> ?", "", line) for line in lines[:taken]])
        result += [f"│ {line}".rstrip() for line in body]
        return taken

    def formula(self, lines, result) -> int:
        if not lines[0].lstrip().startswith("$$"):
            return 0
        text = "\n".join(lines)
        source, closed, after = text.lstrip()[2:].partition("$$")
        if not closed:
            return 0
        for part in formula.readable(source).split("\n"):
            # Several formulas in a line stand three blanks apart.
            fits = inline.width(part) + 4 <= self.columns
            parts = [part] if fits else part.split("   ")
            for one in parts:
                one = inline.wrapped(one, self.columns - 8) if len(parts) > 1 else [one]
                if inline.width(one[0]) + 4 > self.columns:
                    one = inline.wrapped(one[0], self.columns - 8)
                result.append("    " + one[0])
                result += ["        " + line for line in one[1:]]
        sign = after.partition("\n")[0].strip()
        if sign:
            result[-1] += sign
        return text[: len(text) - len(after)].count("\n") + 1

    def table(self, lines, result) -> int:
        taken = next((i for i, s in enumerate(lines) if "|" not in s), len(lines))
        if not table.is_table(lines[:taken]):
            return 0
        result += table.render(lines[:taken], self.columns, self.folder, self.colour)
        return taken

    def paragraph(self, lines, result) -> int:
        taken = 1
        while taken < len(lines) and not self.begins_block(lines[taken]):
            taken += 1
        text = self.inline("\n".join(line.strip() for line in lines[:taken]))
        result += inline.wrapped(text.replace("\n", " "), self.columns)
        return taken

    def begins_block(self, line: str) -> bool:
        """Does the line end a paragraph before it?"""
        return (
            not line.strip()
            or line.lstrip().startswith(("$$", ">", "|"))
            or bool(FENCE.match(line) or HEADING.match(line) or ITEM.match(line)))

    def inline(self, text: str) -> str:
        return inline.render(text, self.folder, self.colour)
