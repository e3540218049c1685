#!/usr/bin/env bash
# The lint: what it finds in a chapter's file with clang's CUDA front end; and, as a
# test of its own because it takes a second a file, that it is silent on every solution.
#
#     lint_test.sh [solutions]
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
cd "$REPOSITORY" || exit 1

# lint EXPRESSION ARGS: prints what a function of tools/learn/lint.py returns.
lint() {
    python3 -c "import sys
sys.path.insert(0, 'tools')
from learn import lint, steps
steps.PATIENCE = 600
print(end='\n'.join($1 or ''))" "${@:2}"
}

if [[ -z $(lint 'lint.find_clang()') ]]; then
    echo 'no clang++ here: the lint was not tested'
    exit 4 # skipped
fi

if [[ ${1-} == solutions ]]; then
    # No false alarm: every solution, every example of the simulator.
    for file in solutions/day*/*/*.cu common/simt/examples/*.cu; do
        folder=${file#solutions/}
        OUTPUT=$(lint 'lint.sides_errors(*sys.argv[1:])' "$file" -I "${folder%/*}")
        check "$file has no such error" test -z "$OUTPUT"
    done
    finish
    exit
fi

# lint_kernel DECLARATIONS EXPRESSION: the lint of a kernel that stores the expression.
lint_kernel() {
    local file=$CHECKOUT/kernel.cu
    {
        printf '%s\n' "$1"
        echo '__global__ void kernel(const float* a, float* c, int n) {'
        echo '    const int i = blockIdx.x * blockDim.x + threadIdx.x;'
        printf '    if (i < n) c[i] = %s;\n}\n' "$2"
        echo 'void launch(const float* a, float* c, int n) {'
        echo '    kernel<<<1, n>>>(a, c, n);'
        echo '}'
    } >"$file"
    OUTPUT=$(lint "lint.${LINTER:-sides}_errors(sys.argv[1])" "$file")
}

lint_kernel 'float twice(float x) { return 2 * x; }' 'twice(a[i])'
expect 'kernel.cu:4: error: calling a __host__ function("twice") in a kernel'
lint_kernel 'struct S { float v; float twice() const { return 2 * v; } };' 'S{a[i]}.twice()'
expect 'kernel.cu:4: error: calling a __host__ function("twice") in a kernel'
lint_kernel 'float scale = 2;' 'a[i] * scale'
expect 'kernel.cu:4: error: the variable "scale" lies in the memory of the host'
lint_kernel '#include <vector>' 'std::vector<float>(1, a[i])[0]'
expect 'kernel.cu:4: error: a kernel cannot use this part of the C++ library'
check 'one message a line' test "$(wc -l <<<"$OUTPUT")" -eq 1

# All of this is allowed.
lint_kernel '__device__ float twice(float x) { return 2 * x; }' 'twice(a[i])'
check 'a device function' test -z "$OUTPUT"
lint_kernel '__constant__ float scale[4]; __managed__ float m; __device__ float d;' \
    'a[i] * scale[1] + m + d'
check 'variables of the device' test -z "$OUTPUT"
lint_kernel 'constexpr float kScale = 2;
template <class T> __host__ __device__ T twice(T x) { return x + x; }' \
    'kScale * twice(a[i]) + fmaf(a[i], 2.0f, sqrtf(a[i])) + __shfl_sync(~0u, a[i], 0)'
check 'constants, both sides, mathematics, warps' test -z "$OUTPUT"
lint_kernel '#include <cassert>
#include <cstdio>
#include <algorithm>' '(assert(n > 0), printf("%d", n), std::max(a[i], 0.0f))'
check 'assert, printf, std::max' test -z "$OUTPUT"

# Without a clang, nvcc is asked.
if command -v nvcc >/dev/null; then
    LINTER=nvcc
    lint_kernel 'float twice(float x) { return 2 * x; }' 'twice(a[i])'
    expect 'kernel.cu:4: error: calling a __host__ function("twice(float)") from'
    lint_kernel '__device__ float twice(float x) { return 2 * x; }' 'twice(a[i])'
    check 'nvcc says nothing of what is right' test -z "$OUTPUT"
fi

finish
