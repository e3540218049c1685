"""Numbers and places as people read them."""

import math


def count_text(value: float) -> str:
    """ "1,048,576"."""
    return f"{value:,.0f}"


def ratio_text(value: float) -> str:
    """One decimal unless it is a whole number: "4", "4.5", "32"."""
    rounded = math.floor(value * 10 + 0.5) / 10
    return count_text(rounded) if rounded == int(rounded) else f"{rounded:.1f}"


def bytes_text(amount: float) -> str:
    """ "1,024 bytes", "8.4 MB": 10^3 and so on, as everywhere in the workbook."""
    if amount < 9999.5:
        return counted(amount, "byte")
    for unit in ("kB", "MB", "GB"):
        amount /= 1e3
        if amount < 999.5:
            return f"{amount:.1f} {unit}" if amount < 99.95 else f"{amount:.0f} {unit}"
    return f"{amount / 1e3:.1f} TB"


def percent_text(fraction: float) -> str:
    """ "12 %"."""
    percent = 100 * fraction
    return f"{percent:.1f} %" if 0 < percent < 9.95 else f"{percent:.0f} %"


def time_text(seconds: float) -> str:
    """ "9.4 us", "1.85 ms"."""
    us = seconds * 1e6
    if us < 0.0995:
        return f"{us * 1e3:.0f} ns"
    if us < 999.5:
        return f"{us:.1f} us" if us < 99.95 else f"{us:.0f} us"
    return f"{us / 1e3:.2f} ms" if us < 99950 else f"{us / 1e3:.0f} ms"


def dim_text(dim: list) -> str:
    """ "32 x 32", without extents of 1 at the end."""
    while len(dim) > 1 and dim[-1] <= 1:
        dim = dim[:-1]
    return " x ".join(map(str, dim))


def position_text(position: list) -> str:
    """ "(32,0,0)"."""
    return "(" + ",".join(map(str, position)) + ")"


def counted(value: float, noun: str) -> str:
    """ "1 sector", "4 sectors"."""
    return f"{ratio_text(value)} {noun}{'' if ratio_text(value) == '1' else 's'}"


def relative_to(root: str, path: str) -> str:
    """A path relative to a folder, if it lies in it."""
    return path.removeprefix(root + "/") if root else path


def place_text(place, root: str) -> str:
    """ "transpose.cu:12"."""
    if not place.file:
        return "an unknown line"
    return f"{relative_to(root, place.file)}:{place.line}"
