"""ncu_lines.py REPORT.ncu-rep…: what each machine instruction cost, as a table.

One row an instruction and launch, tab-separated: program, launch, kernel, file, line,
the marker at its end (// @name), SASS, and the counters that Nsight Compute keeps by
instruction. ncu_truth.sh runs it on the machine that has Nsight Compute, whose Python
module ncu_report it needs.
"""
import functools
import os
import re
import sys

import ncu_report

COUNTERS = [
    "inst_executed",
    "thread_inst_executed",
    "memory_l1_tag_requests_global",
    "memory_l2_theoretical_sectors_global",
    "memory_l2_theoretical_sectors_global_ideal",
    "memory_l1_wavefronts_shared",
    "memory_l1_wavefronts_shared_ideal",
    "memory_access_size_type",
]


def counts(action, name):
    """The counter by address of the instruction."""
    metric = action.metric_by_name(name)
    if metric is None or metric.num_instances() == 0:
        return {}
    addresses = metric.correlation_ids()
    return {
        addresses.as_uint64(i): metric.as_uint64(i)
        for i in range(metric.num_instances())
    }


@functools.cache
def markers(path):
    """The names that lines of a source file are marked with, by number."""
    with open(path, encoding="utf-8") as source:
        found = (re.search(r"// @(\S+)", line) for line in source)
        return {i: match[1] for i, match in enumerate(found, 1) if match}


def place_of(action, address):
    """File, line and marker of an instruction."""
    source = action.source_info(address)
    if source is None:
        return ["-", 0, "-"]
    path, line = source.file_name(), source.line()
    marker = markers(path).get(line, "-") if os.path.exists(path) else "-"
    return [os.path.basename(path), line, marker]


def write_launch(program, number, action):
    columns = [counts(action, name) for name in COUNTERS]
    for address in sorted(columns[0]):
        place = place_of(action, address)
        sass = " ".join(action.sass_by_pc(address).split())
        values = [column.get(address, 0) for column in columns]
        row = [program, number, action.name(action.NameBase_DEMANGLED), *place, sass]
        print(*row, *values, sep="\t")


def main(reports):
    header = ["program", "launch", "kernel", "file", "line", "marker", "sass"]
    print(*header, *COUNTERS, sep="\t")
    for path in reports:
        program = os.path.basename(path).removesuffix(".ncu-rep")
        number = 0
        report = ncu_report.load_report(path)
        for index in range(report.num_ranges()):
            launches = report.range_by_idx(index)
            for launch in range(launches.num_actions()):
                write_launch(program, number, launches.action_by_idx(launch))
                number += 1


if __name__ == "__main__":
    main(sys.argv[1:])
