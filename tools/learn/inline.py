"""A line of Markdown for a terminal: emphasis, code, links and formulas; and breaking
such text between words, where signs have different widths and styles have none."""

import os
import re
import unicodedata

from learn import formula

# Styles travel in the text as private signs; ANSI's sequences replace them at the end.
BOLD, ITALIC, CODE, DIM, OFF = "\ue001", "\ue002", "\ue003", "\ue004", "\ue000"
ANSI = {BOLD: "\x1b[1m", ITALIC: "\x1b[3m", CODE: "\x1b[36m", DIM: "\x1b[2m",
        OFF: "\x1b[0m"}
STYLE = re.compile("[\ue000-\ue004]")

# The blank between a number and its unit.
UNIT = re.compile(r"(?<=\d) (?=%|[µm]?s\b|[KMGT]?B\b|TFLOP/s)")
LONGEST_UNBROKEN = 16  # a short formula stands in one line

INLINE = re.compile(
    r"""(?P<escape>\\[\\`*_{}\[\]()#+\-.!|<>$])
      | (?P<code>(?P<ticks>`+)(?P<source>.+?)(?<!`)(?P=ticks)(?!`))
      | \$(?P<math>[^$\s](?:[^$]*[^$\s])?)\$(?!\d)
      | !?\[(?P<label>(?:[^\[\]`]|`[^`]*`)*)\]\((?P<address>[^()\s]*)(?:\s"[^"]*")?\)
      | <(?P<bare>https?://[^>\s]+)>
      | (?P<mark>\*{1,2}|(?<!\w)_(?=\S)|_(?!\w))""",
    re.VERBOSE | re.DOTALL,
)


def render(text: str, folder: str = "", colour: bool = False) -> str:
    """The text with styles; `folder` is what relative links refer to."""
    result, position, open_marks = [], 0, []
    for match in INLINE.finditer(text):
        result.append(text[position : match.start()])
        position = match.end()
        kind = match.lastgroup if match.lastgroup != "ticks" else "code"
        if match["escape"]:
            result.append(match["escape"][1:])
        elif match["code"]:
            code = match["source"].strip(" ")
            result.append(f"{CODE}{code}{OFF}" if colour else f"`{code}`")
        elif match["math"]:
            text_of_it = formula.readable(match["math"]).replace("\n", " ")
            if len(text_of_it) <= LONGEST_UNBROKEN:
                text_of_it = text_of_it.replace(" ", "\xa0")
            result.append(text_of_it)
        elif match["bare"]:
            result.append(match["bare"])
        elif match["mark"]:
            result.append(_emphasis(match, text, open_marks))
        elif kind:
            label = render(match["label"], folder, colour)
            result.append(label + _address(match["label"], match["address"], folder))
    result.append(text[position:])
    return UNIT.sub("\xa0", "".join(result))


def _emphasis(match, text: str, open_marks: list[str]) -> str:
    """Switches a style on or off; a mark that does neither is an ordinary sign."""
    mark = match["mark"]
    if mark in open_marks and text[match.start() - 1] not in " \n":
        open_marks.remove(mark)
        return OFF
    following = text[match.end() : match.end() + 1]
    if following and not following.isspace() and mark in text[match.end() :]:
        open_marks.append(mark)
        return BOLD if len(mark) == 2 else ITALIC
    return mark


def _address(label: str, address: str, folder: str) -> str:
    """Where a link leads, unless its label says so; within the checkout, as a path."""
    if address.startswith("#") or not address:
        return ""
    if not re.match(r"[a-z]+:", address):
        address = os.path.normpath(os.path.join(folder, address.partition("#")[0]))
    if address in label:
        return ""
    return f" ({address})"


def finished(text: str, colour: bool) -> str:
    """Styles as ANSI sequences, or dropped. A style ends with its line and goes on in
    the next one, behind the margin."""
    text = text.replace("\xa0", " ")
    if not colour:
        return STYLE.sub("", text)
    lines, active = [], ""
    for line in text.split("\n"):
        body = line.lstrip(" ")
        margin = line[: len(line) - len(body)]
        line = margin + active + body
        for style in STYLE.findall(body):
            active = "" if style == OFF else active + style
        lines.append(line + (OFF if active else ""))
    return STYLE.sub(lambda match: ANSI[match[0]], "\n".join(lines))


def width(text: str) -> int:
    """Columns that the text takes."""
    if text.isascii():
        return len(text)
    return sum(_columns(sign) for sign in text)


def _columns(sign: str) -> int:
    if unicodedata.combining(sign) or STYLE.match(sign):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def wrapped(text: str, columns: int, hard: bool = False) -> list[str]:
    """Lines of at most so many columns, broken between words; a longer word has a line
    of its own, or is cut if `hard`."""
    lines, line = [], ""
    for part in text.split("\n"):
        for word in filter(None, part.split(" ")):
            while hard and width(word) > columns:
                if line:
                    lines.append(line)
                line, cut = "", max(columns, 1)
                lines.append(word[:cut])
                word = word[cut:]
            if line and width(line) + 1 + width(word) > columns:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
        lines.append(line)
        line = ""
    return lines
