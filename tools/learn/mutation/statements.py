"""Operators over whole statements."""

import re

from learn.mutation.code import OPEN
from learn.mutation.mutant import NAMESPACE, Mutant

CONSTANT = re.compile(
    r"k[A-Z]\w*|\w+_kernel|(head_)?dim|[DT]|Index|sizeof|float|double|int\w*|size_t")
"""Words that mean the same in each call of one function: of a template, each has its
own statics."""


def accumulate_half(code, function):
    """a sum that is rounded to half at each step"""
    for statement in function.statements:
        sign = _compound(code, statement, "+=")
        if function.on_device and sign:
            target = code.words(statement.first, sign - 1)
            value = code.words(sign + 1, statement.last - 1)
            yield Mutant(
                code, function, "accumulate_half", statement.first, statement.last,
                f"{target} = half({target} + {value});",
                (statement.first, statement.last),
                around=(statement.first, statement.last, "{ ",
                        f" {NAMESPACE}round_to_half<ID>({target}); }}"))


def _compound(code, statement, sign: str) -> int:
    """The token of the sign of an assignment; 0 if it is none."""
    if statement.declares:
        return 0
    at = statement.first
    while at < statement.last:
        if code[at] in OPEN:
            at = code.pair[at]
        elif code[at] == sign:
            return at
        at += 1
    return 0


def overwrite(code, function):
    """`=` for `+=`"""
    for statement in function.statements:
        if sign := _compound(code, statement, "+="):
            whole = code.words(statement.first, statement.last)
            other = (f"{code.words(statement.first, sign - 1)} ="
                     f" {code.words(sign + 1, statement.last)}")
            yield _instead(code, function, "overwrite", statement, other, whole)


def _instead(code, function, name, statement, other, _whole="") -> Mutant:
    """Another statement, or none."""
    return Mutant(
        code, function, name, statement.first, statement.last, other,
        (statement.first, statement.last),
        around=(statement.first, statement.last,
                f"{{ if ({NAMESPACE}is<ID>()) {other or ';'} else ", " }"))


def drop(code, function):
    """a statement left out: a store, a rescale, a barrier, a fence, a wait, a commit, a
    launch, a check of an argument, an early return"""
    for statement in function.statements:
        word = code[statement.first]
        if statement.declares or statement.first in function.constant or (
                statement.first == statement.last):
            continue
        if word in ("CUDA_CHECK_LAUNCH", "static_assert", "using", "goto") or (
                word == "return" and statement.last > statement.first + 1):
            continue  # no launch of ours is refused; a value must be returned
        if word == "(" and code[statement.first + 1] == "void":
            continue
        yield _instead(code, function, "drop", statement, "")


def barrier(code, function):
    """a barrier for the warp instead of the block"""
    for statement in function.statements:
        if code.words(statement.first, statement.last) == "__syncthreads();":
            yield _instead(code, function, "barrier", statement, "__syncwarp();")


def static_local(code, function):
    """`static` on a local of a launcher: the value of the first call for all calls"""
    for statement in function.statements:
        if function.on_device or not statement.declares or (
                code[statement.first] != "const") or (
                    statement.first in function.constant):
            continue
        for i in range(statement.first, statement.last):
            if code[i] == "=" and code[i - 1] == statement.declares:
                if code[i - 2] != "&" and code[i + 1] not in ("[", "{") and (
                        _may_differ(code, i + 1, statement.last)):
                    yield Mutant(
                        code, function, "static_local", statement.first,
                        statement.first, "static const",
                        (statement.first, statement.last),
                        around=(i + 1, statement.last - 1, f"{NAMESPACE}kept<ID>(",
                                ", [] {})"))
                break


def _may_differ(code, first: int, end: int) -> bool:
    """Does a value depend on more than constants and template parameters?"""
    return any(code.tokens[i].kind == "name" and not CONSTANT.fullmatch(code[i])
               for i in range(first, end))
