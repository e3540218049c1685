# ./learn dev mutate: the chapter's tests with a solution into which mistakes are woven
# (docs/mutation.md).
#
#   wb_mutants(id path name contract_dir)   <id>_mutants, <id>_mutants_checked,
#                                           <id>_mutants_quick
#
# The last is for `--quick`, which runs three cases of it: nearly all of that is the time
# of the compiler, which does not optimise it.
#
# The tool writes BUILD/mutants/<path>/<name>.cu before it asks for one of them.
function(wb_mutants id path name contract_dir)
    set(source ${CMAKE_BINARY_DIR}/mutants/${path}/${name}.cu)
    set_source_files_properties(${source} PROPERTIES GENERATED ON)
    foreach(program ${id}_mutants ${id}_mutants_checked ${id}_mutants_quick)
        set(check "")
        set(quick "")
        if(program MATCHES "_quick$")
            set(quick QUICK)
        endif()
        if(program MATCHES "_checked$")
            set(check CHECK safety)
        endif()
        wb_kernels(${program}_kernels ${source} ${check} ${quick}
            INCLUDES ${contract_dir} ${CMAKE_SOURCE_DIR}/tools/mutate)
        target_compile_options(${program}_kernels PRIVATE -w)
        if(check)
            # The checker does not see arrays of a thread, nor memory of the host: an
            # index past one traps.
            target_compile_options(${program}_kernels PRIVATE
                -fsanitize=bounds -fsanitize-undefined-trap-on-error)
            target_compile_definitions(${program}_kernels PRIVATE _GLIBCXX_ASSERTIONS)
        endif()
        set_target_properties(${program}_kernels PROPERTIES EXCLUDE_FROM_ALL ON)
        wb_test_program(${program} ${id}_tests ${program}_kernels)
        target_link_libraries(${program} PRIVATE wb_mutant)
    endforeach()
endfunction()
