/// wb/ptx/site.h: lets a wrapper of a PTX instruction know its caller's line in the
/// simulator, so that its error messages name it. Nothing in a build by nvcc.
#pragma once

#ifdef SIMT_CPU
#define WB_PTX_SITE , const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define WB_PTX_HERE , file, line
// The same for wrappers without parameters of their own.
#define WB_PTX_SITE_ONLY \
    const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define WB_PTX_HERE_ONLY file, line
#else
#define WB_PTX_SITE
#define WB_PTX_HERE
#define WB_PTX_SITE_ONLY
#define WB_PTX_HERE_ONLY
#endif
