"""Operators over names: functions, arguments, variables."""

import re

from learn.mutation.code import KEYWORDS, OPEN
from learn.mutation.mutant import NAMESPACE, Mutant, meaning
from learn.mutation.reading import live, operand

SWAPS = (
    ("row", "column"), ("row", "col"), ("rows", "columns"), ("rows", "cols"),
    ("batch", "head"), ("query", "key"), ("queries", "keys"), ("q", "k"), ("k", "v"),
    ("q", "kv"), ("x", "y"), ("i", "j"), ("lane", "warp"), ("warp", "block"),
    ("first", "last"), ("H", "W"), ("C", "N"), ("heads", "kv_heads"), ("a", "b"))
FUNCTIONS = {
    "expf": "exp2f", "exp2f": "expf", "logf": "log2f", "log2f": "logf",
    "__shfl_xor_sync": "__shfl_down_sync", "__shfl_down_sync": "__shfl_up_sync",
    "atomicAdd": f"{NAMESPACE}plain_add", "fabsf": f"{NAMESPACE}same",
    "cudaMemcpyAsync": f"{NAMESPACE}nothing", "cudaMemsetAsync": f"{NAMESPACE}nothing"}
BOUNDS = {"min": "Min", "max": "Max", "fminf": "Fminf", "fmaxf": "Fmaxf"}


def bound(code, function):
    """one side of a minimum or maximum for the whole: `a` for `min(a, b)`"""
    for i in live(code, function):
        if code[i] not in BOUNDS or code[i + 1] != "(" or code[i - 1] in (".", "->"):
            continue
        close = code.pair[i + 1]
        commas = _commas(code, i + 1)
        if len(commas) != 1:
            continue
        is_std = code[i - 1] == "::" and code[i - 2] == "std"
        first = i - 2 if is_std else i
        base = ("Std" if is_std else "") + BOUNDS[code[i]]
        for side, words in (("left", (i + 2, commas[0] - 1)),
                            ("right", (commas[0] + 1, close - 1))):
            yield Mutant(
                code, function, "bound", first, close, code.words(*words),
                (first, close), call=f"{base} {meaning(side)}")


def _commas(code, paren: int) -> list[int]:
    found, at = [], paren + 1
    while at < code.pair[paren]:
        if code[at] in OPEN:
            at = code.pair[at]
        elif at in code.angles:
            at = code.angles[at]
        elif code[at] == ",":
            found.append(at)
        at += 1
    return found


def other_function(code, function):
    """a neighbouring function: `exp2f` for `expf`, a shuffle of another kind, `+=` for
    `atomicAdd()`, a copy or a memset left out"""
    for i in live(code, function):
        if code[i] in FUNCTIONS and code[i + 1] == "(":
            close = code.pair[i + 1]
            other = FUNCTIONS[code[i]]
            call = f"{other}{code.words(i + 1, close)}"
            yield Mutant(
                code, function, "other_function", i, close,
                call.replace(NAMESPACE, ""), (i, close),
                around=(i, close, f"({NAMESPACE}is<ID>() ? {call} : ", ")"))


def stream(code, function):
    """the default stream in place of the caller's"""
    for i in live(code, function):
        if code[i] == "stream" and not function.on_device and (
                code[i - 1] in (",", "(") and code[i + 1] in (",", ")", ">>>")):
            yield Mutant(
                code, function, "stream", i, i, "nullptr",
                _argument_list(code, i),
                around=(i, i, f"{NAMESPACE}pick<ID>(", ", cudaStream_t(nullptr))"))


def _argument_list(code, i) -> tuple[int, int]:
    """From the function's name to what follows the argument."""
    at = i
    while code[at] not in ("(", "<<<"):
        at = code.pair[at] - 1 if code[at] in (")", "]", "}") else at - 1
    return operand(code, at - 1, -1), i + 1


def template_argument(code, function):
    """another template argument: `false` for `true`, a number one larger"""
    for i, end in code.angles.items():
        if not function.body < i < function.end or end != i + 2:
            continue
        word = code[i + 1]
        if word not in ("true", "false") and not re.fullmatch(r"\d+", word):
            continue
        other = {"true": "false", "false": "true"}.get(word)
        other = other or str(int(word) + 1)
        if code[end + 1] == "(" and code[i - 1] != "operator":
            first = operand(code, i - 1, -1)
            close = code.pair[end + 1]
            call = (code.words(first, i) + other + code.words(end, close))
            yield Mutant(
                code, function, "template_argument", i + 1, i + 1, other,
                (first, close),
                around=(first, close, f"({NAMESPACE}is<ID>() ? {call} : ", ")"))


def word(code, function):
    """an exchanged word: x and y, row and column, batch and head, query and key"""
    statements = {s.first: s for s in function.statements if s.declares}
    declared = {
        i for s in statements.values() for i in range(s.first, s.last)
        if code[i] == s.declares and i < _initializer(code, s)}
    for i in live(code, function):
        name = code[i]
        if code.tokens[i].kind != "name" or name in KEYWORDS or i in declared:
            continue
        if code[i + 1] in ("(", "::", "=", "+=", "-=", "*=", "/=", "++", "--", "{") or (
                code[i - 1] in ("::", "++", "--") or i + 1 in code.angles):
            continue
        is_member = code[i - 1] in (".", "->")
        first = operand(code, i, -1) if is_member else i
        near = code.tokens[first - 1]
        if near.kind == "name" and near.text not in ("return", "else") or (
                near.text in ("&", "*", "&&") and not near.spaced):
            continue
        for other in _others(name):
            if is_member:
                is_known = other in code.members or {name, other} == {"x", "y"}
            else:
                is_known = any(other in names for names in function.scopes.get(i, ()))
            if is_known:
                text = code.words(first, i)
                text = text[: len(text) - len(name)] + other
                around = (first, i, f"{NAMESPACE}pick<ID>(", f", {text})")
                if code[i + 1] == "." and code[i + 3] == "(":
                    # What is called may change the object, not a copy of it.
                    around = (first, i, f"({NAMESPACE}is<ID>() ? {text} : ", ")")
                yield Mutant(
                    code, function, "word", first, i, text,
                    _around_word(code, first, i), around=around)


def _initializer(code, statement) -> int:
    for i in range(statement.first, statement.last):
        if code[i] in ("=", "(", "{"):
            return i
    return statement.last


def _others(name: str) -> list[str]:
    """What a name may be mistaken for, part by part: query_row, key_row."""
    parts = name.split("_")
    found = []
    for at, part in enumerate(parts):
        for pair in SWAPS:
            if part in pair:
                other = pair[1 - pair.index(part)]
                found.append("_".join([*parts[:at], other, *parts[at + 1 :]]))
    for left, right in (("query_heads", "kv_heads"),):
        if name in (left, right):
            found.append(right if name == left else left)
    return [other for other in dict.fromkeys(found) if other != name]


def _around_word(code, first: int, last: int) -> tuple[int, int]:
    """The word, with the sign and operand beside it."""
    if code.tokens[last + 1].spaced:
        return first, operand(code, last + 2, 1)
    if code.tokens[first - 1].spaced:
        return operand(code, first - 2, -1), last
    if code[first - 1] == "[" and code[last + 1] == "]":
        return operand(code, first - 2, -1), last + 1
    return first - 1, last + 1
