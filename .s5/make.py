import subprocess
D='solutions/day06-llm-attention/05-sparse-attention/'
t=open(D+'block_02_register_tiles.cuh').read()
s=open(D+'sparse_attention.cu').read()
body=t[t.index('// #region walk'):]
a='''    __device__ int64_t place(int step) const {
        return step < full_steps'''
assert a in body
body=body.replace(a,'''    __device__ int64_t place(int step) const {
        // TODO(learner): steps come in the order of the lists, first those of the full
        // blocks. A block has kSteps of them (2 lines)
        // #starter return 0 * step;
        // #solution
        return step < full_steps''')
a=''': partial.begin + (step - full_steps) / kSteps;
'''
assert a in body
body=body.replace(a,a+'        // #end\n')
a='''        if (step >= steps) return keys;
        const int64_t at'''
assert a in body
body=body.replace(a,'''        if (step >= steps) return keys;
        // TODO(learner): the block of this step: of which list is it? If it is not one
        // of the blocks that `keys` keys have, wb::check_index reports it: then there
        // is no key. Else it is the block's first, plus T::BN for each earlier step of
        // the same block, but never more than `keys` (about 6 lines)
        // #starter return keys;
        // #solution
        const int64_t at''')
a='''        return min(keys, block * wb::BlockPattern::kKeys + step % kSteps * T::BN);
'''
assert a in body
body=body.replace(a,a+'        // #end\n')
a='''                                             int shift) {
'''
assert a in body
body=body.replace(a,a+'''    // TODO(learner): bit `shift + c` of masks[r] is column c of row r of this tile. For
    // each of this thread's rows, w.row + i * T::kRowStep: take the word once, then look
    // at its bits of the keys w.col + j * T::kLanes (about 8 lines)
    // #solution
''')
a='''            if ((bits >> (j * T::kLanes) & 1) == 0) r_s[i][j] = -INFINITY;
        }
    }
'''
assert a in body
body=body.replace(a,a+'    // #end\n')
k=body.index('constexpr auto& block_sparse_attention_v2')
tail=body[k:]
body=body[:k]+'// #endregion v3-launch\n'
body=body.replace('''/// A version: the largest tiles that fit. sm_75 has no room even for the small ones of
/// D = 128.
''','''/// A version: the largest tiles that fit. sm_75 has no room even for the small ones of
/// D = 128.
''')
body=body.replace('block_sparse_attention_v1(shape, pattern,','attend_rows(shape, pattern,')
head='''// sparse_attention_fast.cu: block_sparse_attention_v2 to v4: chapter 02's register tiles
// on a list. What you write is where the next tile comes from, and what counts in it.
// #solution
// Only the short test cases: the ladder runs the long ones.
// #end
#include "sparse_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/head_dim.h>
#include <wb/launch.h>
#include <wb/online_softmax.h>
#include <wb/ptx/cp_async.h>
#include <wb/shared_memory.h>
#include <wb/sparse_pattern.h>

#include <cmath>
#include <cstdint>

#include "../03-grouped-query-attention/products.cuh"
#include "rows.cuh"

'''
i=s.index('/// What both contracts ask of shape and tensors.')
con=s[i:]
con=con.replace('''                            const wb::PatternStatus* status) {
''','''                            const wb::PatternStatus* status) {
    // #starter WB_NOT_SOLVED();  // delete this line when all three TODOs are written
''',1)
import re
con=re.sub(r'    // #starter WB_NOT_SOLVED\(\);  // delete this line after the (first two TODOs|third TODO)\n','',con)
con=re.sub(r'    // #solution\n    const auto version = sparse_attention_v3;\n    // #end\n    // #starter const auto version = sparse_attention_v1;\n    version\(','    attend_rows(',con)
con=re.sub(r'    // #solution\n    const auto version = block_sparse_attention_v4;\n    // #end\n    // #starter const auto version = block_sparse_attention_v1;\n    version\(','    launch_largest<kAllOptions>(\n        ',con)
con=con.replace('int64_t{kThreads}','int64_t{wb::BlockPattern::kRows}').replace('partial * kThreads','partial * wb::BlockPattern::kRows')
con=con.replace('// #region contract\n','''// #region contract
constexpr BlockOptions kAllOptions = {.longest_first = true, .queries_at_once = true};

''')
full=head+body.rstrip('\n')+'''

// #solution
#ifndef WB_VERSION_ONLY  // the other file has all versions, and the contract
// #end
'''+con.rstrip('\n')+'''
// #solution
#endif
// #end
'''
subprocess.run(['git','mv',D+'block_02_register_tiles.cuh',D+'sparse_attention_fast.cu'],check=True)
open(D+'sparse_attention_fast.cu','w').write(full)
tail=tail.replace('// #endregion v3-launch\n','// #endregion block-versions\n')
s=s.replace('#include "block_02_register_tiles.cuh"\n','#define WB_VERSION_ONLY\n#include "sparse_attention_fast.cu"\n\n// #region block-versions\n'+tail)
open(D+'sparse_attention.cu','w').write(s)
