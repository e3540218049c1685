#include <wb/errors.h>
#include <wb/nccl_error.h>

namespace wb::detail {

[[noreturn]] void throw_nccl(int code,
                             const char* name,
                             const char* said,
                             const char* expression,
                             const char* file,
                             int line);

void throw_nccl(int code,
                const char* name,
                const char* said,
                const char* expression,
                const char* file,
                int line) {
    throw NcclError(code,
                    check_message(expression, name, said ? said : "", file, line));
}

}  // namespace wb::detail
