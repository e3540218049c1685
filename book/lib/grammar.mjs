// CUDA for the highlighter: what C++ does not know is injected into the grammar of C++.

const words = (list) => `\\b(?:${list.join('|')})\\b`

const SPECIFIERS = [
  '__global__',
  '__device__',
  '__host__',
  '__shared__',
  '__constant__',
  '__managed__',
  '__forceinline__',
  '__noinline__',
  '__launch_bounds__',
  '__grid_constant__',
  '__cluster_dims__',
  '__restrict__',
  '__align__'
]

const BUILT_INS = ['threadIdx', 'blockIdx', 'blockDim', 'gridDim', 'warpSize']

const SCALARS = 'char|uchar|short|ushort|int|uint|long|ulong|longlong|ulonglong'
const TYPES = [
  `(?:${SCALARS}|float|double)[1-4]`,
  'dim3',
  '__?half2?(?:_raw)?',
  'half2?',
  '(?:__)?nv_bfloat16(?:2|_raw)?',
  '__nv_fp8\\w*',
  '__nv_fp4\\w*',
  'cuda[A-Z]\\w*_t',
  'cublas[A-Z]\\w*_t',
  'CUtensorMap'
]

// Every function of the device begins with two underscores, but for the families that
// are named here.
const INTRINSICS = [
  '__(?:shfl|ballot|any|all|activemask|match|reduce)\\w*',
  '__(?:syncthreads|syncwarp|threadfence)\\w*',
  '__(?:ld|st)(?:g|ca|cg|cs|cv|lu|wb|wt)',
  '__(?:fma|fadd|fmul|fdiv|frcp|fsqrt)\\w*',
  '__(?:expf|exp10f|logf|log2f|log10f|sinf|cosf|tanf|powf|sincosf|saturatef|fdividef)',
  '__(?:float|half|int|uint|double|bfloat16|high|low|halves|floats)\\w*2\\w+',
  '__(?:clz|popc|ffs|brev|byte_perm|dp4a|dp2a|mul24|umulhi|mulhi)\\w*',
  '__(?:hfma|hadd|hmul|hmax|hmin|hsub)\\w*',
  '__(?:cvta|nanosleep|trap|assume|isShared|isGlobal)\\w*',
  'atomic(?:Add|Sub|Exch|Min|Max|Inc|Dec|CAS|And|Or|Xor)(?:_block|_system)?',
  'rsqrtf?',
  'exp2f',
  'fmaf',
  'clock64'
]

/** @see https://shiki.style for the fields */
export const cuda = {
  name: 'cuda-in-cpp',
  scopeName: 'source.cuda.injection',
  injectTo: ['source.cpp'],
  injectionSelector: 'L:source.cpp -comment -string',
  patterns: [
    { match: words(SPECIFIERS), name: 'storage.modifier.cuda' },
    { match: '<<<|>>>', name: 'keyword.operator.launch.cuda' },
    { match: words(BUILT_INS), name: 'variable.language.cuda' },
    { match: words(INTRINSICS), name: 'support.function.cuda' },
    { match: words(TYPES), name: 'support.type.cuda' }
  ]
}

const PTX_TYPES = '\\.(?:[fsub](?:8|16|32|64)|b128|bf16(?:x2)?|f16x2|pred|e4m3|e5m2)\\b'

/** Enough of PTX for the listings of a lesson. */
export const ptx = {
  name: 'ptx',
  scopeName: 'source.ptx',
  patterns: [
    { match: '//.*$', name: 'comment.line.double-slash.ptx' },
    { begin: '/\\*', end: '\\*/', name: 'comment.block.ptx' },
    { match: '"[^"]*"', name: 'string.quoted.double.ptx' },
    { match: '[%$][\\w.]+', name: 'variable.other.ptx' },
    { match: PTX_TYPES, name: 'storage.type.ptx' },
    { match: '@!?%?\\w+', name: 'keyword.control.ptx' },
    { match: '^\\s*\\.\\w+', name: 'storage.modifier.ptx' },
    { match: '^\\s*[a-z][\\w]*(?:[.:]+\\w+)*', name: 'support.function.ptx' },
    {
      match: '\\b(?:0[xXfFdD][0-9a-fA-F]+|\\d+(?:\\.\\d+)?)\\b',
      name: 'constant.numeric.ptx'
    }
  ]
}
