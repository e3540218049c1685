// What is known about the kernels of a translation unit, and the passes that need it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "device_code.h"

namespace rewriter {

/// All kernels of one name.
struct Kernel {
    bool overloaded = false;    // kernels of different type or scope share the name
    bool shares_name = false;   // a function that is no kernel has it, too
    bool names_member = false;  // a member function has it, too
    bool has_default_arguments = false;
    bool is_template = false;
    bool has_pack = false;
    size_t template_parameters = 0;
    size_t required_template_arguments = 0;  // those without a default
    uint64_t references = 0;  // bit i: parameter i is one, in all kernels of the name
    std::string signature;    // scope and parameter types
    std::string scope_name;   // name of the namespace, if any
};

/// The kernels by name.
class KernelTable {
 public:
    KernelTable(const Source& source, const Structure& structure);

    const Kernel* find(std::string_view name) const {
        const auto found = kernels_.find(name);
        return found == kernels_.end() ? nullptr : &found->second;
    }
    /// Does `&name<…>` with so many template arguments mean exactly one function?
    bool is_one_function(const Kernel& kernel, size_t template_arguments) const;
    /// Are so many template arguments all, so that a call deduces none?
    bool is_complete(const Kernel& kernel, size_t template_arguments) const {
        return !kernel.has_pack && template_arguments >= kernel.template_parameters;
    }

 private:
    void add(const Source& source,
             const Structure& structure,
             const Function& function);

    std::unordered_map<std::string_view, Kernel> kernels_;
};

/// An id-expression `ns::name<args>` around the identifier at a token.
struct QualifiedName {
    size_t first;               // first token, perhaps `::`
    size_t last;                // one past the last token
    size_t template_arguments;  // how many are given
};
QualifiedName qualified_name(const Source& source, size_t name);

/// Number of arguments separated by commas in tokens [first, last).
size_t count_arguments(const Source& source, size_t first, size_t last);

/// Turns `k<T><<<grid, block>>>(x)` into a call of simt::kernel, and refuses launches
/// that nvcc refuses.
void rewrite_launches(Source& source,
                      const Structure& structure,
                      const DeviceCode& code,
                      const KernelTable& kernels,
                      bool relocatable);

/// Wraps kernels that are used as values in simt::kernel_ref, and refuses kernels that
/// are called like ordinary functions.
void rewrite_kernel_references(Source& source,
                               const Structure& structure,
                               const KernelTable& kernels);

}  // namespace rewriter
