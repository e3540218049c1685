#!/usr/bin/env python3
"""Prints missing_names.txt: what CUDA's headers declare and the simulator's do not.

    missing_names.py CUDA/include BUILD/include >missing_names.txt

The second folder is the one where the simulator's build makes headers. Run it again
with a new version of CUDA, or when the simulator has learnt much: a name too many does
no harm, for only names that a compiler does not find are looked up. Of the driver API's
enumerators there are only the groups.
"""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

SIMT = Path(__file__).resolve().parent.parent

# Which headers of CUDA are read, and which of their identifiers are documented names.
PARTS = {
    "runtime": (
        "cuda_runtime*.h driver_types.h channel_descriptor.h cuda_device_runtime_api.h "
        "surface_types.h texture_types.h *_indirect_functions.h cuda_*_interop.h",
        r"cuda[A-Z]\w*|tex[A-Z123]\w*|surf[A-Z123]\w*",
        r"cudaCDP\w*|cuda\w*_(ptsz|ptds|v\d+|v\d+_ptsz|st|enum|union)|cudaCG\w*|"
        r"cudaDevAttrReserved\w*|cuda\w*Helper\w*",
    ),
    "driver API": (
        "cuda.h cudaGL.h cudaEGL.h cudaProfiler.h",
        r"cu[A-Z]\w*|CU[a-z]\w*",
        r"\w*_(ptsz|ptds|v\d+|v\d+_ptsz|st|enum|union)",
    ),
    "device functions": (
        "crt/*.h crt/*.hpp sm_* device_*.h* cuda_fp*.h* cuda_bf16.h*",
        r"__[a-z]\w*|atomic[A-Z]\w*|CUDART_\w+|nv_bfloat\w*",
        r"__internal\w*|\w*(_impl|_internal|_helper\w*|_kernel|_var)|\w*__|"
        r"__(cuda|cudart|device|host|fat|frag|name|module|location|lcpp|libcpp)\w*|"
        r"__(builtin|cu_va|ibm|nvvm|match(32|64)|mma_|[bhid]?mma|imma|cpp)\w*|"
        r"__(u?[a-z0-9]*Atomic)\w*|__(assert|nv_init|nv_dummy|cmath|nv_atomic_)\w*|"
        r"__(address|alignof|args_\w+|cdecl|config|cplusplus|declspec|float128|handle|"
        r"forceinline|get_storage_value|has_\w+|int64|lazy_\w+|math|stdcall|storage|"
        r"thread|pragma|pm\d|pending_count|signbitd|wait_complete|global|shared|"
        r"grid_\w*|x86\w*|linux|specialization_\w+|local_\w+|float_simpl\w*|"
        r"u128\w*|nv_c\w*_impl|isfinite\w*|isinf\w*|isnan\w*|sharedMem|gridDim|"
        r"blockDim)",
    ),
    "cuRAND": (
        "curand*.h",
        r"curand_[a-z]\w*|curand[A-Z]\w*|skipahead\w*",
        r"curand\w*_(st|t_st|ADDR|FUNC)|curand_(kernel|poisson|normal|discrete|uniform|"
        r"globals|precalc|lognormal)\w*_h|curand_[A-Z]\w*",
    ),
    "cooperative groups, wmma": (
        "cooperative_groups.h cooperative_groups/*.h crt/mma.h",
        r"invoke_one\w*|block_tile_memory|multi_grid_group|this_multi_grid|bmma_sync|"
        r"precision|memcpy_async_tx\w*",
        r"",
    ),
}


def identifiers(folder, patterns):
    found = set()
    for pattern in patterns.split():
        for path in folder.glob(pattern):
            text = path.read_text(errors="replace")
            text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
            text = re.sub(r"//.*|\"(\\.|[^\"\n])*\"", " ", text)
            found.update(re.findall(r"[A-Za-z_]\w*", text))
    return found


def cub_names(folder):
    """CUB has a file for each of its names: device_histogram.cuh."""
    parts = ("block", "device", "grid", "iterator", "warp")
    paths = [path for part in parts for path in (folder / "cccl/cub" / part).glob("*")]
    return {"".join(word.title() for word in path.stem.split("_")) for path in paths}


def enumerator_groups(folder):
    """CU_CTX_SCHED_AUTO and its like by their first words, CU_CTX_*."""
    names = " ".join(identifiers(folder, "cuda.h"))
    groups = re.findall(r"\b(CU_[A-Z0-9]+_|CUDA_ERROR_)", names)
    return sorted(f"{group}*" for group in set(groups))


def own_identifiers(build):
    """All words of the simulator's headers, macros among them."""
    headers = """cuda.h cuda_runtime.h cuda_fp16.h cuda_bf16.h cuda_fp8.h mma.h
        cuComplex.h cuda_pipeline.h cooperative_groups.h cooperative_groups/reduce.h
        cooperative_groups/scan.h cooperative_groups/memcpy_async.h cub/cub.cuh
        cuda_profiler_api.h math_constants.h simt/inline_ptx.h curand.h
        curand_kernel.h"""
    folders = [*SIMT.glob("*/include"), build]
    command = ["g++", "-std=gnu++20", "-E", "-dD", "-x", "c++", "-", "-DSIMT_REWRITE=1"]
    command += [f"-I{folder}" for folder in folders]
    source = "".join(f"#include <{name}>\n" for name in headers.split())
    text = subprocess.run(
        command, input=source, capture_output=True, text=True, check=True
    ).stdout
    return set(re.findall(r"[A-Za-z_]\w*", text))


def main():
    cuda, build = map(Path, sys.argv[1:])
    own = own_identifiers(build)
    print("# Made by missing_names.py. What CUDA 13's headers declare and ours do not.")
    for part, (headers, wanted, unwanted) in PARTS.items():
        names = sorted(
            name
            for name in identifiers(cuda, headers) - own
            if re.fullmatch(wanted, name) and not re.fullmatch(unwanted, name)
        )
        print(f"# {part}")
        print_names(names)
    print("# driver API, enumerators")
    print_names(enumerator_groups(cuda))
    print("# CUB")
    print_names(sorted(cub_names(cuda) - own))


def print_names(names):
    print("\n".join(textwrap.wrap(" ".join(names), 88, break_on_hyphens=False)))


main()
