# CUDA sources in a CMake project, for the CPU.
#
#   simt_objects(TARGET file.cu… [CHECK safety|count] [INCLUDES dir…] [OPTIONS flag…])
#
# declares an object library: .cu files are compiled by simt-c++ with the project's own
# C++ compiler and flags. Link it like any object library; it brings the simulator along,
# and with CHECK (simt-c++ --check) the checker.
#
# simt-c++ stands before the compiler as a compiler launcher is meant to, so that header
# dependencies, include directories and compile_commands.json work as for C++.

function(simt_objects target)
    cmake_parse_arguments(ARG "" "CHECK" "INCLUDES;OPTIONS" ${ARGN})
    # The caller's scope need not be the one that included this file.
    get_filename_component(simt_dir ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.. ABSOLUTE)
    set(rewriter ${CMAKE_BINARY_DIR}/bin/simt_rewrite)
    set_source_files_properties(${ARG_UNPARSED_ARGUMENTS} PROPERTIES
        LANGUAGE CXX
        OBJECT_DEPENDS "${rewriter};${simt_dir}/simt-c++")
    add_library(${target} OBJECT ${ARG_UNPARSED_ARGUMENTS})
    set(driver "${simt_dir}/simt-c++;--simt-build-dir=${CMAKE_BINARY_DIR}")
    if(ARG_CHECK)
        list(APPEND driver --check=${ARG_CHECK})
        target_link_libraries(${target} PUBLIC simt_check)
    endif()
    set_target_properties(${target} PROPERTIES
        CXX_COMPILER_LAUNCHER "${driver};-ccbin")
    target_include_directories(${target} PRIVATE ${ARG_INCLUDES})
    target_compile_options(${target} PRIVATE ${ARG_OPTIONS})
    target_link_libraries(${target} PUBLIC simt)
    add_dependencies(${target} simt_rewrite)
endfunction()
