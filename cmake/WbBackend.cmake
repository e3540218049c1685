# How a .cu file becomes object code: nvcc for a GPU, or the simulator for the CPU.
#
#   wb_runtime                  target: the CUDA runtime, or the simulator
#   wb_kernels(TARGET file.cu…) an object library of CUDA sources
#     WERROR                    warnings are errors: for what we wrote, not the learner
#     GATED                     so are spilled registers, if the chapter has a gate
#     QUICK                     the simulator's compiler need not optimise: for kernels
#                               that are never run, or once
#     CHECK safety|count        the simulator's checker watches them (its backend only)
#     INCLUDES dir…             include directories besides those of common/
#
# The variable WB_HOPPER says that the kernels are for sm_90a: the simulator then is such
# a GPU. The variable WB_GATE names an architecture: where GATED kernels are compiled for
# it, the build fails if ptxas spills registers or serialises wgmma
# (scripts/ptxas_gate.sh).

# A fresh starter has parameters and constants that nothing uses yet.
set(WB_KERNEL_WARNINGS
    -Wall -Wextra -Wno-unused-parameter -Wno-unused-const-variable)

# The architectures of the workbook that the toolkit at hand knows, but for sm_90a, which
# the preset cuda-check is for. Asking nvcc beats a table: each toolkit drops old
# architectures and adds new ones.
function(wb_supported_architectures result)
    set(found)
    foreach(arch 75 80 86 89 100a 120)
        execute_process(
            COMMAND ${CMAKE_CUDA_COMPILER} --dryrun -c -x cu /dev/null -o /dev/null
                -gencode=arch=compute_${arch},code=sm_${arch}
            RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
        if(status EQUAL 0)
            list(APPEND found ${arch}-real)
        endif()
    endforeach()
    set(${result} ${found} PARENT_SCOPE)
endfunction()

# An older nvcc would fail in many lines, the first of them in enable_language().
function(wb_require_nvcc minimum)
    find_program(nvcc NAMES "${CMAKE_CUDA_COMPILER}" "$ENV{CUDACXX}" nvcc
        PATHS /usr/local/cuda/bin NO_CACHE)
    execute_process(COMMAND "${nvcc}" --version OUTPUT_VARIABLE text ERROR_QUIET)
    if(text MATCHES "release ([0-9.]+)" AND CMAKE_MATCH_1 VERSION_LESS minimum)
        message(FATAL_ERROR "nvcc ${CMAKE_MATCH_1} is too old, Warpbook needs CUDA "
            "${minimum} or newer (${nvcc}; the variable CUDACXX names another)")
    endif()
endfunction()

if(WB_BACKEND STREQUAL "cuda")
    if(WB_COMPILE_ONLY AND NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
        find_program(CMAKE_CUDA_COMPILER nvcc PATHS /usr/local/cuda/bin REQUIRED)
        wb_supported_architectures(architectures)
        set(CMAKE_CUDA_ARCHITECTURES ${architectures} CACHE STRING "")
    endif()
    wb_require_nvcc(12.4)
    enable_language(CUDA)
    # wgmma and setmaxnreg exist for sm_90a only, and the GPU that has them calls itself
    # sm_90.
    if(CMAKE_CUDA_ARCHITECTURES STREQUAL "native" AND
        CMAKE_CUDA_ARCHITECTURES_NATIVE MATCHES "^90")
        set(CMAKE_CUDA_ARCHITECTURES 90a-real)
    elseif(CMAKE_CUDA_ARCHITECTURES STREQUAL "native" AND
        CMAKE_CUDA_ARCHITECTURES_NATIVE MATCHES "^100")
        set(CMAKE_CUDA_ARCHITECTURES 100a-real)  # tcgen05, likewise
    endif()
    # Who asks for 90 or 100 means that GPU, and all that it can do.
    list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "^(90|100)$" "\\1a")
    list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "^(90|100)-real$" "\\1a-real")
    message(STATUS "Warpbook: nvcc ${CMAKE_CUDA_COMPILER_VERSION}, "
        "architectures ${CMAKE_CUDA_ARCHITECTURES}")
    find_package(CUDAToolkit REQUIRED)
    add_library(wb_runtime INTERFACE)
    target_link_libraries(wb_runtime INTERFACE CUDA::cudart_static)
elseif(WB_BACKEND STREQUAL "sim")
    set(SIMT_SHARED ON)
    add_subdirectory(${CMAKE_SOURCE_DIR}/common/simt)
    add_library(wb_runtime INTERFACE)
    target_link_libraries(wb_runtime INTERFACE simt)
else()
    message(FATAL_ERROR "WB_BACKEND is '${WB_BACKEND}', but must be sim or cuda")
endif()

set(WB_PTXAS_GATE ${CMAKE_CURRENT_LIST_DIR}/scripts/ptxas_gate.sh)

function(wb_kernels target)
    cmake_parse_arguments(ARG "WERROR;GATED;QUICK" "CHECK" "INCLUDES" ${ARGN})
    set(warnings ${WB_KERNEL_WARNINGS})
    if(ARG_WERROR)
        list(APPEND warnings -Werror)
    endif()
    set(includes
        ${CMAKE_SOURCE_DIR}/common/include
        ${CMAKE_SOURCE_DIR}/common/reference/include
        ${ARG_INCLUDES})
    if(WB_BACKEND STREQUAL "sim")
        if(WB_HOPPER)
            set(hopper -arch=sm_90a -Wno-psabi)  # a tensor map is aligned to 128
        elseif(WB_BLACKWELL)
            set(hopper -arch=sm_100a)
        endif()
        simt_objects(${target} ${ARG_UNPARSED_ARGUMENTS} CHECK ${ARG_CHECK}
            INCLUDES ${includes}
            OPTIONS ${warnings} ${hopper})
        # Programs spend their time in the simulator, which is compiled at -O2: more than
        # -O1 here would cost a third more to compile and gain nothing. Copies of 16 bytes
        # for float4 belong to it: only of those a CPU notices that they are misaligned.
        set(optimise -O1 -ftree-slp-vectorize)
        if(ARG_QUICK)
            set(optimise -O0)
        endif()
        if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
            target_compile_options(${target} PRIVATE ${optimise})
        endif()
        return()
    endif()
    add_library(${target} OBJECT ${ARG_UNPARSED_ARGUMENTS})
    target_link_libraries(${target} PUBLIC wb_runtime)
    target_include_directories(${target} PRIVATE ${includes})
    list(JOIN warnings "," host_warnings)
    # 177, "declared but never referenced": true of every constant in a fresh starter.
    target_compile_options(${target} PRIVATE
        -lineinfo -Xcompiler=${host_warnings} -diag-suppress=177)
    if(ARG_WERROR)
        target_compile_options(${target} PRIVATE -Werror=all-warnings)
    endif()
    set(gated OFF)
    if(WB_GATE AND ARG_GATED AND NOT WB_COMPILE_ONLY)
        set(gated ON)
    endif()
    if(WB_QUICK AND NOT gated)
        target_compile_options(${target} PRIVATE -Xcicc=-O0 -Xptxas=-O0)
    endif()
    if(gated)
        target_compile_options(${target} PRIVATE -Xptxas=-v)
        set_target_properties(${target} PROPERTIES
            CUDA_COMPILER_LAUNCHER "bash;${WB_PTXAS_GATE};${WB_GATE}")
    endif()
endfunction()
