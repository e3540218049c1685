# Headers take most of the time of compiling a file. Two ways to compile them less often:
#
#   wb_in_bundles(TARGET…)                     several files of a target at a time, as one.
#                                              An archive's main() stays alone: a program
#                                              with its own must not get it with the rest
#   wb_bundled_kernels(RESULT SIZE file.cu…)   the same for .cu files, of which CMake 3.25
#                                              makes no bundles: lists files made of SIZE
#   wb_add_precompiled(NAME library header… [OPTIONS flag…])
#                                              headers of a library, precompiled
#   wb_precompiled(TARGET NAME)                a target's sources include them first
#
# A precompiled header fits only what is compiled with the same flags: all are compiled
# for use in a shared library, and whoever uses them takes their OPTIONS over.

# Off, a change of one file compiles that file alone.
option(WB_UNITY "Compile the workbook's own files in bundles" ON)

function(wb_in_bundles)
    foreach(target ${ARGN})
        set_target_properties(${target} PROPERTIES
            UNITY_BUILD ${WB_UNITY} UNITY_BUILD_BATCH_SIZE 12)
    endforeach()
endfunction()

function(wb_bundled_kernels result size)
    set(made)
    if(NOT WB_UNITY)
        list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE made)
    endif()
    while(ARGN AND WB_UNITY)
        list(LENGTH made number)
        set(bundle ${CMAKE_CURRENT_BINARY_DIR}/bundle_${result}_${number}.cu)
        list(SUBLIST ARGN 0 ${size} sources)
        list(REMOVE_ITEM ARGN ${sources})
        list(TRANSFORM sources REPLACE ".+"
            "#include \"${CMAKE_CURRENT_SOURCE_DIR}/\\0\"\n#undef TEST_GROUP\n")
        list(JOIN sources "" text)
        file(CONFIGURE OUTPUT ${bundle} CONTENT "${text}" @ONLY)
        list(APPEND made ${bundle})
    endwhile()
    set(${result} ${made} PARENT_SCOPE)
endfunction()

function(wb_add_precompiled name library)
    cmake_parse_arguments(ARG "" "" "OPTIONS" ${ARGN})
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "// The headers stand beside it.\n")
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${source})
    target_link_libraries(${name} PUBLIC ${library})
    target_compile_options(${name} PRIVATE -Wall -Wextra -fPIC ${ARG_OPTIONS})
    set_target_properties(${name} PROPERTIES WB_OPTIONS "${ARG_OPTIONS}")
    target_precompile_headers(${name} PRIVATE ${ARG_UNPARSED_ARGUMENTS})
endfunction()

function(wb_precompiled target name)
    target_compile_options(${target} PRIVATE
        -fPIC $<TARGET_PROPERTY:${name},WB_OPTIONS>)
    target_precompile_headers(${target} REUSE_FROM ${name})
endfunction()
