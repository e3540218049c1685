# Headers that many programs include, compiled once for all of them.
#
#   wb_add_precompiled(NAME library header…)   headers of a library, precompiled
#   wb_precompiled(TARGET NAME)                a target's sources include them first
#
# A precompiled header fits only what is compiled with the same flags: all are compiled
# for use in a shared library.

function(wb_add_precompiled name library)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "// The headers stand beside it.\n")
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${source})
    target_link_libraries(${name} PUBLIC ${library})
    target_compile_options(${name} PRIVATE -Wall -Wextra -fPIC)
    target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

function(wb_precompiled target name)
    target_compile_options(${target} PRIVATE -fPIC)
    target_precompile_headers(${target} REUSE_FROM ${name})
endfunction()
