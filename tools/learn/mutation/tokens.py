"""The words of a C++ file, with their places. What a preprocessor line, a comment or
white space says is left out, and the functions of a second stage that its chapter's
ladder, which includes the file for one version, has itself."""

import re
from typing import NamedTuple


class Token(NamedTuple):
    kind: str  # name, number, string, sign
    text: str
    start: int
    end: int
    spaced: bool  # white space on both sides: our style's mark of an operator for two


WORD = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<string>(?:u8|[uUL])?R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"
        |(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')
    |(?P<number>\.?\d(?:[eEpP][+-]|'[0-9a-fA-F]|[\w.])*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign><<<|>>>|<<=|>>=|<=>|\.\.\.|->\*|\#\#|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&
        |\|\||[-+*/%&|^]=|.)""", re.X | re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.M | re.S)

NOT_IN_LADDER = re.compile(r"^#ifndef WB_VERSION_ONLY\b.*?^#endif", re.M | re.S)


def read(text: str) -> list[Token]:
    """The tokens of a file."""
    # Blanked, so that places stay what they are.
    for left_out in (NOT_IN_LADDER, DIRECTIVE):
        text = left_out.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    tokens = []
    at = 0
    launches = 0  # <<< that are open
    while at < len(text):
        match = WORD.match(text, at)
        start, end = match.span()
        kind, word = match.lastgroup, match[0]
        if kind == "mark":
            kind = "string"
        spaced = _is_space(text, start - 1) and _is_space(text, end)
        if word == "<<<":
            launches += 1
        elif word == ">>>" and launches:
            launches -= 1
        elif word in (">>", ">>>", ">>=") and not spaced:
            # The ends of template arguments.
            word, end, spaced = ">", start + 1, False
        at = end
        if kind != "skip":
            tokens.append(Token(kind, word, start, end, spaced))
    return tokens


def _is_space(text: str, at: int) -> bool:
    return not 0 <= at < len(text) or text[at].isspace()
