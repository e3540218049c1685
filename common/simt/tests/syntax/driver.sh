#!/bin/bash
# driver.sh SIMT_CXX: simt-c++ takes nvcc's flags, several files and separate
# compilation.
set -u
compiler=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work/tmp
mkdir "$TMPDIR" "$work/a directory"
cd "$work/a directory" || exit 1
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
must() { # the rest of the line succeeds
    local output
    output=$("$@" 2>&1) || fail "$* -> $? $output"
}
must_fail() { # message command…
    local message=$1 output
    shift
    output=$("$@" 2>&1) && fail "$* succeeded"
    [[ $output == *"$message"* ]] || fail "$*: expected \"$message\", got: $output"
}

cat >main.cu <<'END'
#include "shared.h"
__device__ int scale = SCALE;
__global__ void k(int* o) { o[0] = scale + from_other_file(1); }
int main() {
    int* d;
    cudaMalloc(&d, 4);
    k<<<1, 1>>>(d);
    int h = 0;
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    return h == SCALE + 101 + in_cpp() ? 0 : h;
}
END
cat >other.cu <<'END'
#include "shared.h"
__device__ int scale = 100;  // not the one of main.cu
__device__ int from_other_file(int x) { return x + scale; }
END
cat >host.cpp <<'END'
#include <cuda_runtime.h>
#include "shared.h"
int in_cpp() { int n = 0; cudaGetDeviceCount(&n); return n - 1; }
END
mkdir include
echo '__device__ int from_other_file(int); int in_cpp();' >include/shared.h
sed -i '1i #include <cuda_runtime.h>' include/shared.h

# One command, a directory with a blank, flags in every form.
must "$compiler" -O3 -DSCALE=5 -Iinclude -arch=sm_90 --std=c++17 \
    -Xcompiler -Wall,-Wextra -Xptxas -v -lineinfo --expt-relaxed-constexpr -use_fast_math -lcudart \
    main.cu other.cu host.cpp -o program
must ./program
must "$compiler" -D SCALE=6 -I include --gpu-architecture sm_86 \
    -gencode=arch=compute_86,code=sm_86 -gencode arch=compute_90,code=sm_90 -std c++11 \
    --compiler-options "-Wall -fno-strict-aliasing" --maxrregcount=32 -maxrregcount 32 \
    --ptxas-options=-v -m64 -w --default-stream per-thread -cudart static -g -G \
    main.cu other.cu host.cpp --output-file program -run

# Separate compilation, with the dependencies of each file.
must "$compiler" -dc -DSCALE=7 -Iinclude main.cu -o main.o -MD -MF main.d
[[ -s main.d ]] && grep -q '^main.o:' main.d && grep -q include/shared.h main.d ||
    fail "main.d: $(cat main.d)"
sed -i 's/__device__ int scale/static __device__ int scale/' other.cu
must "$compiler" -rdc=true -c -Iinclude other.cu
must "$compiler" -Iinclude -c host.cpp
must "$compiler" -dlink main.o other.o host.o -o link.o
must "$compiler" main.o other.o host.o link.o -o separate -L. -lm
must ./separate
must "$compiler" -lib other.o host.o -o libparts.a
must "$compiler" main.o -L. -lparts -o archived
must ./archived

# The rest of nvcc's options: in its long and short forms, with its forms of values.
must "$compiler" --dryrun -DSCALE=1 -Iinclude -c main.cu -o never.o -code=sm_90 -e k \
    -res-usage -opt-info inline -jtd 3 -extra-device-vectorization -src-in-ptx -restrict \
    -ldir x -dlto -lto -gen-opt-lto -ewp -no-compress --compress-mode=size -reloc-ptx \
    -dopt on -Ofc max -split-compile 2 --split-compile-extended 2 -astoolspatch -noprof \
    -device-entity-has-hidden-visibility=true -static-global-template-stub=false \
    -device-stack-protector=true -nodlink --no-align-double -qpp-config x -ftz=true \
    --prec-div=false -prec-sqrt false -fmad=false -t 4 -keep -keep-dir x -save-temps \
    -objtemp -time x.csv -fdevice-time-trace=x -jobserver -diag-suppress 1,2 \
    --diag-warn=1 -diag-error 1 -brief-diag=true -err-no -no-err-no \
    -Wno-deprecated-gpu-targets -Wdefault-stream-launch -Wmissing-launch-bounds \
    -Wext-lambda-captures-this -Wno-deprecated-declarations -Wreorder \
    -allow-unsupported-compiler -use-local-env -idp / -ddp / -dp / -frandom-seed=x \
    -odir . -cudadevrt none -target-dir x -arbin ar -Xarchive x -hls=gen-lcs -aug-hls -r \
    -nohdinitlist -nohdmoveforward -m64 -pg -noeh -fdevice-syntax-only \
    -ftemplate-depth 90 -ftemplate-backtrace-limit 3 -forward-unknown-to-host-compiler \
    -Werror all-warnings --Werror reorder -run-args "a b" -MP -w
must_fail 'unknown option --no-such-option' "$compiler" --no-such-option -c main.cu
must_fail 'there is no GPU code' "$compiler" -ptx main.cu
must_fail 'see --check' "$compiler" -sanitize=memcheck -c main.cu
cat >arguments.cu <<'END'
int main(int argc, char** argv) { return argc != 3 || argv[2][0] != 'b'; }
END
must "$compiler" arguments.cu -o arguments -run -run-args "a b"

# Other modes.
"$compiler" -E -DSCALE=1 -Iinclude main.cu | grep -q 'k<<<1, 1>>>(d)' || fail "-E"
"$compiler" -M -DSCALE=1 -Iinclude main.cu | grep -q 'main.o:' || fail "-M"
"$compiler" --version | grep -q 'release 1' || fail "--version"
"$compiler" -v -lineinfo -Xptxas -v -DSCALE=1 -Iinclude -c main.cu 2>&1 |
    grep -q 'ignored: -Xptxas -v' || fail "-v"
"$compiler" --dryrun -DSCALE=1 -Iinclude main.cu -o never 2>/dev/null
[[ -e never ]] && fail "--dryrun wrote a program"
cp main.cu plain.txt
must "$compiler" -x cu -DSCALE=1 -Iinclude -c plain.txt -o plain.o
echo '#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 750
#error wrong architecture
#endif' >arch.cu
must "$compiler" -arch=compute_75 -c arch.cu

# Parallel compilations of files with the same name do not disturb each other.
mkdir p1 p2
echo '__global__ void k1() {}' >p1/same.cu
echo '__global__ void k2() {}' >p2/same.cu
"$compiler" -c p1/same.cu -o p1/same.o & first=$!
"$compiler" -c p2/same.cu -o p2/same.o & second=$!
wait $first && wait $second && [[ -s p1/same.o && -s p2/same.o ]] || fail "parallel"

# The simulator built elsewhere: its headers, rewriter and library are taken from there.
mkdir elsewhere
cp -r "$SIMT_BUILD_DIR/bin" "$SIMT_BUILD_DIR/include" elsewhere
ln -s "$SIMT_BUILD_DIR/lib" elsewhere/lib
echo '#define ELSEWHERE 7' >>elsewhere/include/builtin_types.h
echo '#include <builtin_types.h>
int main() { return ELSEWHERE - 7; }' >where.cu
must "$compiler" --simt-build-dir=elsewhere where.cu -o where -run
must_fail ELSEWHERE "$compiler" where.cu -o where
must_fail 'no simulator is built in' "$compiler" --simt-build-dir=include where.cu -o x

# Errors.
must_fail 'no such file' "$compiler" absent.cu -o x
must_fail 'no input files' "$compiler" -O2
must_fail 'no replacement on the CPU' "$compiler" main.cu -lcufft -o x
must_fail 'needs a value' "$compiler" main.cu -o
must_fail 'several source files' "$compiler" -c main.cu other.cu -o x.o
must_fail 'was not found' env CXX=no-such-compiler "$compiler" -c main.cu
must_fail '#error stop here' "$compiler" -x cu -c <(echo '#error stop here') -o x.o
echo 'int main() { return missing(); }' >bad.cpp
must_fail 'bad.cpp:1' "$compiler" bad.cpp -o x
echo '__device__ char big[3000000000];
__global__ void k(int i) { big[i] = big[i + 1]; }
int main() { k<<<1, 1>>>(3); }' >big.cu
must_fail 'more than 2 GB: allocate them' "$compiler" big.cu -o x
[[ -e x || -e x.o ]] && fail "an error left an output file"
[[ -z $(ls -A "$TMPDIR") ]] || fail "temporary files are left: $(ls -A "$TMPDIR")"

((failures == 0)) && echo "all passed"
exit $((failures > 0))
