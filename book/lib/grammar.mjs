// CUDA C++ for the highlighter. The grammar of C++ that comes with Shiki parses far more
// than a colour needs, and took half of a build; this one knows the words of the language
// and of CUDA, and reads a line from left to right.

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

const CONTROL = [
  'if', 'else', 'for', 'while', 'do', 'switch', 'case', 'default', 'break', 'continue',
  'return', 'goto', 'throw', 'try', 'catch', 'co_await', 'co_return', 'co_yield'
]

const OPERATORS = [
  'new', 'delete', 'sizeof', 'alignof', 'decltype', 'typeid', 'noexcept', 'requires',
  'static_cast', 'reinterpret_cast', 'const_cast', 'dynamic_cast', 'static_assert'
]

const STORAGE = [
  'const', 'constexpr', 'consteval', 'constinit', 'static', 'inline', 'extern', 'mutable',
  'volatile', 'register', 'typename', 'template', 'class', 'struct', 'enum', 'union',
  'concept', 'namespace', 'using', 'typedef', 'public', 'private', 'protected', 'virtual',
  'override', 'final', 'explicit', 'friend', 'operator', 'thread_local', 'alignas', 'asm',
  'void', 'bool', 'char', 'short', 'int', 'long', 'unsigned', 'signed', 'float',
  'double', 'auto', 'wchar_t', 'char8_t', 'char16_t', 'char32_t',
  'u?int(?:_fast|_least)?(?:8|16|32|64)_t', 'u?intptr_t', 'u?intmax_t', 'size_t',
  'ssize_t', 'ptrdiff_t'
]

const LITERALS = ['true', 'false', 'nullptr', 'this']

const NUMBER =
  "(?:\\b0[xX][\\da-fA-F']+(?:\\.[\\da-fA-F]*)?(?:[pP][-+]?\\d+)?|\\b0[bB][01']+|" +
  "(?:\\b\\d[\\d']*(?:\\.\\d*)?|(?<!\\w)\\.\\d+)(?:[eE][-+]?\\d+)?)\\w*"

const ESCAPE = {
  match: '\\\\(?:x[\\da-fA-F]+|[0-7]{1,3}|.|$)', name: 'constant.character.escape.cuda'
}

/** A name before "(", or before "<…>(" and "<<<". */
const CALLED = '~?\\b[A-Za-z_]\\w*(?=\\s*(?:\\(|<<<|<[\\w\\s:,.*+/&-]*>\\s*\\())'

/** Order decides: the first that matches at a place. @see https://shiki.style */
export const cuda = {
  name: 'cuda',
  aliases: ['cpp', 'cu', 'cuh'],
  scopeName: 'source.cuda',
  patterns: [
    {
      begin: '//', end: '$', name: 'comment.line.double-slash.cuda',
      patterns: [{ match: '@t?param\\b', name: 'storage.type.documentation.cuda' }]
    },
    { begin: '/\\*', end: '\\*/', name: 'comment.block.cuda' },
    {
      match: '^\\s*(#\\s*include)\\s*(<[^>]*>|"[^"]*")?',
      captures: {
        1: { name: 'keyword.control.directive.cuda' },
        2: { name: 'string.quoted.include.cuda' }
      }
    },
    {
      match: '^\\s*(#\\s*(?:define|undef|ifdef|ifndef))\\s+(\\w+)',
      captures: {
        1: { name: 'keyword.control.directive.cuda' },
        2: { name: 'entity.name.function.preprocessor.cuda' }
      }
    },
    {
      match: '^\\s*(#\\s*pragma)\\s+(\\w+)',
      captures: {
        1: { name: 'keyword.control.directive.cuda' },
        2: { name: 'constant.other.pragma.cuda' }
      }
    },
    { match: '^\\s*#\\s*\\w+', name: 'keyword.control.directive.cuda' },
    { begin: 'R"(\\w*)\\(', end: '\\)\\1"', name: 'string.quoted.raw.cuda' },
    {
      begin: '"', end: '"|(?<!\\\\)$', name: 'string.quoted.double.cuda',
      patterns: [ESCAPE]
    },
    { match: "'(?:\\\\.[^']*|[^'\\\\])'", name: 'string.quoted.single.cuda' },
    { match: NUMBER, name: 'constant.numeric.cuda' },
    { match: words(CONTROL), name: 'keyword.control.cuda' },
    { match: words(OPERATORS), name: 'keyword.operator.word.cuda' },
    {
      match: '\\b(class|struct|union|concept)\\s+(\\w+)',
      captures: { 1: { name: 'storage.type.cuda' }, 2: { name: 'entity.name.type.cuda' } }
    },
    { match: words([...STORAGE, ...SPECIFIERS]), name: 'storage.type.cuda' },
    { match: words(BUILT_INS), name: 'variable.language.cuda' },
    { match: words(LITERALS), name: 'constant.language.cuda' },
    { match: words(INTRINSICS), name: 'support.function.cuda' },
    { match: words(TYPES), name: 'support.type.cuda' },
    { match: CALLED, name: 'entity.name.function.cuda' },
    { match: '\\b[A-Za-z_]\\w*(?=::)', name: 'entity.name.scope-resolution.cuda' },
    { match: '<<<|>>>', name: 'keyword.operator.launch.cuda' },
    // A name of no colour is read as a whole, so that no rule begins inside of it.
    { match: '\\b[A-Za-z_]\\w*', name: 'variable.other.cuda' },
    // Comparisons and shifts stand between blanks, the brackets of templates do not.
    { match: '(?<=\\s)(?:<<|>>|[<>])=?(?=\\s)', name: 'keyword.operator.cuda' },
    { match: '::|->|\\.\\.\\.|[<>]', name: 'punctuation.cuda' },
    { match: '[-+*/%&|^~!=?:]+', name: 'keyword.operator.cuda' }
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
