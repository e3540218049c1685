# How a .cu file becomes object code: nvcc for a GPU, or the simulator for the CPU.
#
#   wb_runtime                  target: the CUDA runtime, or the simulator
#   wb_nccl                     target: NCCL, or the simulator's; not there where a
#                               machine with a GPU lacks NCCL
#   wb_kernels(TARGET file.cu…) an object library of CUDA sources
#     WERROR                    warnings are errors: for what we wrote, not the learner
#     GATED                     so are spilled registers, if the chapter has a gate
#     EVERY_GPU                 with WB_EVERY_GPU: for all architectures that nvcc knows
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

# Compiler options for every architecture of the workbook that the toolkit at hand knows.
# Asking nvcc beats a table: each toolkit drops old architectures and adds new ones.
#
# nvcc reads the sources anew for each compute_XX, which takes most of its time; ptxas for
# one more sm_XX takes little. So:
#   * sources that never ask which GPU it is, nor include wb/ptx, which does, are compiled
#     for the oldest (what it lacks is found, and its PTX is good for all that follow) and
#     for sm_90a;
#   * else one compute_XX stands for the GPUs up to the next at which headers of the
#     workbook or of CUDA have other code;
#   * unless the sources ask which of these GPUs it is.
#
#   sources    files and folders to look into; of a file, its whole folder
#   blackwell  the kernels are for sm_100a, whose code other GPUs do not have
function(wb_every_architecture result blackwell sources)
    set(steps 75,75 80,80,86,89 90a,90a)
    set(each 75,75 80,80 86,86 89,89 90a,90a 100a,100a 120,120)
    if(blackwell)
        list(APPEND steps 100a,100a 120,120)
    else()
        list(APPEND steps 100,100,120)
    endif()
    set(families 75,75 90a,90a)
    foreach(source ${sources})
        set(folder ${source})
        if(NOT IS_DIRECTORY ${source})
            cmake_path(GET source PARENT_PATH folder)
        endif()
        file(GLOB headers ${folder}/*.h ${folder}/*.cuh ${folder}/*.cu)
        foreach(file ${source} ${headers})
            if(IS_DIRECTORY ${file} OR NOT EXISTS ${file})
                continue()
            endif()
            file(STRINGS ${file} asks REGEX "__CUDA_ARCH__|<wb/ptx/")
            if(asks AND NOT families STREQUAL each)
                set(families ${steps})
            endif()
            file(STRINGS ${file} asks REGEX "__CUDA_ARCH__ *[=<>!]")
            string(REGEX REPLACE "__CUDA_ARCH__ *[=<>!]+ *(750|800|900|1000)[^0-9]" ""
                asks "${asks};")
            if(asks MATCHES "__CUDA_ARCH__ *[=<>!]")
                set(families ${each})
            endif()
        endforeach()
    endforeach()
    set(options)
    foreach(family ${families})
        string(REPLACE "," ";" members ${family})
        list(POP_FRONT members compute)
        set(codes)
        foreach(arch ${members})
            set(code arch=compute_${compute},code=sm_${arch})
            if(NOT DEFINED CACHE{WB_KNOWS_${code}})
                execute_process(
                    COMMAND ${CMAKE_CUDA_COMPILER} --dryrun -c -x cu /dev/null
                        -o /dev/null -gencode=${code}
                    RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
                set(WB_KNOWS_${code} ${status} CACHE INTERNAL "")
            endif()
            if(WB_KNOWS_${code} EQUAL 0)
                list(APPEND options --generate-code=${code})
            endif()
        endforeach()
    endforeach()
    set(${result} ${options} PARENT_SCOPE)
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
    # PyTorch brings a libnccl.so.2 and no libnccl.so.
    set(WB_NCCL_ROOT "$ENV{NCCL_HOME}" CACHE PATH
        "NCCL's folder, with include and lib; empty: CUDA's, or the system's")
    set(places ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_LIBRARY_DIR})
    if(WB_NCCL_ROOT)
        set(places ${WB_NCCL_ROOT} NO_DEFAULT_PATH)
    endif()
    if(NOT "${WB_NCCL_ROOT}" STREQUAL "${WB_NCCL_ROOT_BEFORE}")
        unset(WB_NCCL_INCLUDE CACHE)
        unset(WB_NCCL_LIBRARY CACHE)
    endif()
    set(WB_NCCL_ROOT_BEFORE "${WB_NCCL_ROOT}" CACHE INTERNAL "")
    find_path(WB_NCCL_INCLUDE nccl.h PATH_SUFFIXES include HINTS ${places})
    find_library(WB_NCCL_LIBRARY NAMES nccl libnccl.so.2 PATH_SUFFIXES lib lib64
        HINTS ${places})
    mark_as_advanced(WB_NCCL_INCLUDE WB_NCCL_LIBRARY)
    if(WB_NCCL_INCLUDE AND WB_NCCL_LIBRARY)
        add_library(wb_nccl INTERFACE)
        target_include_directories(wb_nccl SYSTEM INTERFACE ${WB_NCCL_INCLUDE})
        target_link_libraries(wb_nccl INTERFACE ${WB_NCCL_LIBRARY})
    endif()
elseif(WB_BACKEND STREQUAL "sim")
    set(SIMT_SHARED ON)
    add_subdirectory(${CMAKE_SOURCE_DIR}/common/simt)
    add_library(wb_runtime INTERFACE)
    target_link_libraries(wb_runtime INTERFACE simt)
    add_library(wb_nccl INTERFACE)
    target_link_libraries(wb_nccl INTERFACE simt)
else()
    message(FATAL_ERROR "WB_BACKEND is '${WB_BACKEND}', but must be sim or cuda")
endif()

# Without any optimisation ptxas chokes on what templates leave behind: of kernels of day
# 6, it takes twice as long as with the little that this option lets it do.
set(WB_QUICKLY -Xcicc=-O0 -Xptxas=-O0)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.0)
    set(WB_QUICKLY --Ofast-compile=max)
endif()

set(WB_PTXAS_GATE ${CMAKE_CURRENT_LIST_DIR}/scripts/ptxas_gate.sh)

function(wb_kernels target)
    cmake_parse_arguments(ARG "WERROR;GATED;QUICK;EVERY_GPU" "CHECK" "INCLUDES" ${ARGN})
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
    target_link_libraries(${target} PUBLIC wb_runtime ${WB_NEEDS})
    target_include_directories(${target} PRIVATE ${includes})
    list(JOIN warnings "," host_warnings)
    # What is true of a fresh starter's constants and first lines: 177, "declared but
    # never referenced"; 550, "set but never used", which `(void)` does not count as a
    # use. In the simulator's build g++ looks at both.
    target_compile_options(${target} PRIVATE
        -Xcompiler=${host_warnings} -diag-suppress=177,550)
    if(ARG_WERROR)
        target_compile_options(${target} PRIVATE -Werror=all-warnings)
    endif()
    set(gated OFF)
    if(WB_GATE AND ARG_GATED)
        set(gated ON)
    endif()
    if(WB_EVERY_GPU AND ARG_EVERY_GPU AND gated)
        # The gate is for one GPU, and takes time: once more for all, without it.
        wb_kernels(${target}_everywhere ${ARG_UNPARSED_ARGUMENTS} WERROR EVERY_GPU
            INCLUDES ${ARG_INCLUDES})
        set_target_properties(${target}_everywhere PROPERTIES EXCLUDE_FROM_ALL ON)
        add_dependencies(workbook ${target}_everywhere)
    elseif(WB_EVERY_GPU AND ARG_EVERY_GPU)
        wb_every_architecture(architectures "${WB_BLACKWELL}"
            "${ARG_UNPARSED_ARGUMENTS};${ARG_INCLUDES}")
        set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES OFF)
        target_compile_options(${target} PRIVATE ${architectures})
    endif()
    if(NOT WB_QUICK)
        target_compile_options(${target} PRIVATE -lineinfo)
    elseif(NOT gated)
        target_compile_options(${target} PRIVATE ${WB_QUICKLY})
    endif()
    if(gated)
        target_compile_options(${target} PRIVATE -Xptxas=-v)
        set_target_properties(${target} PROPERTIES
            CUDA_COMPILER_LAUNCHER "bash;${WB_PTXAS_GATE};${WB_GATE}")
    endif()
endfunction()
