"""What operators have in common: run-time code, and the operands of a sign."""

from typing import Iterator

from learn.mutation.code import KEYWORDS, OPEN, Code, Function

PRECEDENCE = {
    "*": 9, "/": 9, "%": 9, "+": 8, "-": 8, "<<": 7, ">>": 7, "<": 6, ">": 6, "<=": 6,
    ">=": 6, "==": 5, "!=": 5, "&": 4, "|": 2}


def live(code: Code, function: Function) -> Iterator[int]:
    """The tokens of a body that are run-time code."""
    for i in range(function.body + 1, function.end):
        if i not in function.constant:
            yield i


def operand(code: Code, at: int, step: int) -> int:
    """The last token of the operand that ends (or begins) at a token."""
    signs = ("-", "!", "~", "*", "&", "++", "--")
    if step > 0:
        while code[at] in signs:
            at += 1
    if code[at] in OPEN and step > 0 or code[at] in ")]}" and step < 0:
        at = code.pair.get(at, at)
    while True:
        near = at + step
        if step > 0 and near in code.angles:
            at = code.angles[near]
        elif step > 0 and code[near] in ("(", "[", "{") and code[at] not in KEYWORDS:
            if code.tokens[near].start != code.tokens[at].end:
                return at
            at = code.pair.get(near, near)
        elif code[near] in (".", "::", "->"):
            at = near + step
            if step < 0 and code[at] in ")]":
                at = code.pair[at]
        elif step < 0 and code[at] in ("(", "[", "{") and (
                code.tokens[near].kind == "name" or code[near] in ")]") and (
                    code.tokens[near].end == code.tokens[at].start):
            at = code.pair[near] if code[near] in ")]" else near
        elif step < 0 and code[near] == ">" and code[at] in ("(", "{"):
            opens = [a for a, b in code.angles.items() if b == near]
            if not opens:
                return at
            at = opens[0] - 1
        else:
            return at


def operands(code: Code, i: int) -> tuple[int, int]:
    """From the first token of the left operand of a sign to the last of the right."""
    level = PRECEDENCE[code[i]]
    first, last = operand(code, i - 1, -1), operand(code, i + 1, 1)
    while code.tokens[first - 1].spaced and PRECEDENCE.get(code[first - 1], 0) >= level:
        first = operand(code, first - 2, -1)
    while code[first - 1] in ("-", "!", "*", "~") and not code.tokens[first - 1].spaced:
        first -= 1
    while code.tokens[last + 1].spaced and PRECEDENCE.get(code[last + 1], 0) > level:
        last = operand(code, last + 2, 1)
    return first, last
