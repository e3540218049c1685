#include <wb/check.h>
#include <wb/errors.h>

namespace wb::detail {

std::string check_message(const char* expression,
                          const char* name,
                          const char* description,
                          const char* file,
                          int line) {
    return "`" + std::string(expression) + "` failed: " + name + " (" + description +
           ") at " + file + ":" + std::to_string(line);
}

void check_cuda(cudaError_t code, const char* expression, const char* file, int line) {
    if (code == cudaSuccess) return;
    (void)cudaGetLastError();
    throw CudaError(
        code,
        check_message(
            expression, cudaGetErrorName(code), cudaGetErrorString(code), file, line),
        file,
        line);
}

}  // namespace wb::detail
