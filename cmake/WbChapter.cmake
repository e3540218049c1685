# One line declares a chapter: wb_chapter(day01-basics/02-vector-add)
# HOPPER or BLACKWELL behind it: its kernels are for sm_90a or sm_100a alone. GATE sm_90a:
# the build fails if ptxas spills registers of the solution's there (WbBackend.cmake).
# USES day04_fused_epilogue …: what it is put together from, other chapters' functions.
# Their solutions are linked into its programs, checked ones into those of the checker.
# NEEDS wb_nccl: a library that its kernels and its tests use; without it the chapter is
# left out of this build.
# The variable WB_MINE names chapters (day03_layernorm;day04_sgemm) of which the learner's
# programs take the learner's files in place of the solutions.
#
# The folder's name gives the chapter's: vector_add. From it follow all files,
#   day01-basics/02-vector-add/vector_add.{h,cu}   contract and the learner's file
#   solutions/<same>/vector_add.cu                 the ladder
#   tests/<same>/vector_add[_<part>]_test.cpp, vector_add_bench.cpp, mutants/right.cu,
#                                                  mutants/*.diff
# all targets,
#   day01_vector_add                  the learner's file under the chapter's tests
#   day01_vector_add_solution         the solution under the same tests
#   day01_vector_add_unsolved         the starter as it was handed out
#   day01_vector_add_wrong            all known-wrong kernels, which must be rejected;
#                                     WB_WRONG_KERNEL=<name> says which it is
#   day01_vector_add_bench[_learner]  the benchmark, of the ladder or of the learner
#   day01_vector_add_checked[_solution]  the tests, with kernels that the simulator's
#                                     checker watches: races, bounds, goals in counters
#   day01_vector_add_xray[_solution]  the benchmark with such kernels, for ./learn xray
#   day01_vector_add_mutants[_checked]  the tests with a solution that is many wrong ones,
#                                     for ./learn dev mutate (WbMutants.cmake)
# A chapter whose solution has a second file, vector_add_fast.cu, has a second stage, "Go
# faster": that file's starter, under the same tests (wb_second_stage() below).
# From all this follow all CTest names: day01.vector_add.<case>, ….solution.<case>,
# ….unsolved, ….mutant.<name>, ….right, ….checked (the checker finds nothing in the
# solution), ….goals (it meets its goals), labelled with the day, the chapter, and
# learner or workbook. They build what they need first: build.day01.vector_add the
# learner's program, build.day01.vector_add.workbook all others that are tested.
#
# A known-wrong kernel is an edit (mutants/<name>.diff, see tools/bundle/edit.h) of
# mutants/right.cu, a short right version that must pass the chapter's tests (….right), or
# of another right*.cu; or, where an edit would not be short, a file <name>.cu. Those of
# mutants/goals/ are right, but miss a goal (….mutant.goals.<name>), or have a race that
# only the checker sees ("# Rejected as: race"). Those of
# mutants/orders/ lack an order between streams, of mutants/sim/ an order between threads:
# a GPU may be lucky, or hang; the simulator tries many orders, and has many GPUs.

include(WbMutants)

add_custom_target(learner)
add_custom_target(workbook)
set(WB_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/scripts)
set(WB_MARKERS ${CMAKE_SOURCE_DIR}/tools/markers.py)  # makes starters

# Programs that ./learn test builds: for the whole workbook, one day, and one chapter.
function(wb_add_to_workbook day)
    add_dependencies(workbook ${ARGN})
    foreach(part ${day} ${WB_CHAPTER})
        if(NOT TARGET workbook_${part})
            add_custom_target(workbook_${part})
        endif()
        add_dependencies(workbook_${part} ${ARGN})
    endforeach()
endfunction()

# The tests of a chapter. Where the test framework is a shared library they are one, too:
# then each of the chapter's programs is only its kernels. Catch2's headers are compiled
# once for all.
function(wb_test_library target sources contract_dir)
    if(WB_TESTING_SHARED)
        add_library(${target} SHARED EXCLUDE_FROM_ALL ${sources})
    else()
        add_library(${target} OBJECT EXCLUDE_FROM_ALL ${sources})
    endif()
    wb_in_bundles(${target})
    target_link_libraries(${target} PUBLIC wb_testing)
    target_include_directories(${target} PRIVATE ${contract_dir})
    target_compile_options(${target} PRIVATE -Wall -Wextra)
    wb_precompiled(${target} wb_test_headers)
endfunction()

# The library <id>_given: sources that are no exercise. ./learn xray, in the simulator,
# takes <id>_given_checked, whose kernels count what they do.
function(wb_given_sources id contract_dir)
    list(TRANSFORM ARGN PREPEND ${contract_dir}/ OUTPUT_VARIABLE kernels)
    set(host ${kernels})
    list(FILTER kernels INCLUDE REGEX "[.]cu$")
    list(FILTER host EXCLUDE REGEX "[.]cu$")
    wb_given_library(${id}_given "${kernels}" "${host}" ${contract_dir})
    if(WB_BACKEND STREQUAL "sim")
        wb_given_library(${id}_given_checked "${kernels}" "${host}" ${contract_dir}
            CHECK count)
    endif()
endfunction()

function(wb_given_library library kernels host contract_dir)
    add_library(${library} STATIC ${host})
    if(kernels)
        wb_kernels(${library}_kernels ${kernels} WERROR EVERY_GPU
            INCLUDES ${contract_dir} ${ARGN})
        target_sources(${library} PRIVATE $<TARGET_OBJECTS:${library}_kernels>)
        set_target_properties(${library}_kernels PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    target_include_directories(${library} PRIVATE ${contract_dir})
    target_link_libraries(${library} PUBLIC wb)
    target_compile_options(${library} PRIVATE
        $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra>)
    set_target_properties(${library} PROPERTIES
        LINKER_LANGUAGE CXX EXCLUDE_FROM_ALL ON)
endfunction()

# The kernels that a learner's program is put together from: see WB_MINE above.
function(wb_mine result)
    set(kernels ${ARGN})
    foreach(chapter ${WB_MINE})
        list(TRANSFORM kernels REPLACE
            "^${chapter}_solution_kernels$" ${chapter}_learner_kernels)
        list(TRANSFORM kernels REPLACE
            "^${chapter}_checked_solution_kernels$" ${chapter}_checked_kernels)
    endforeach()
    set(${result} ${kernels} PARENT_SCOPE)
endfunction()

# A test program: the chapter's tests, compiled once, with one implementation. LEARNERS: a
# learner's, whose rungs, if it has any, are not what is graded.
function(wb_test_program target tests kernels)
    cmake_parse_arguments(ARG "LEARNERS" "" "" ${ARGN})
    if(ARG_LEARNERS AND given)
        wb_mine(given ${given})
    endif()
    if(WB_TESTING_SHARED)
        add_executable(${target} EXCLUDE_FROM_ALL)
        set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
        # The program names nothing of the tests: a linker might leave them out.
        target_link_options(${target} PRIVATE LINKER:--no-as-needed)
        target_link_libraries(${target} PRIVATE ${tests})
    else()
        add_executable(${target} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${tests}>)
    endif()
    target_link_libraries(${target} PRIVATE ${kernels} ${given} wb_testing)
    if(ARG_LEARNERS)
        target_link_libraries(${target} PRIVATE wb_learners_program)
    endif()
endfunction()

# The known-wrong kernels in one of the folders of a chapter.
function(wb_find_wrong_kernels result dir)
    file(GLOB found CONFIGURE_DEPENDS ${dir}/*.cu ${dir}/*.diff)
    list(FILTER found EXCLUDE REGEX "/right[^/]*[.]cu$")
    set(${result} ${found} PARENT_SCOPE)
endfunction()

# The known-wrong kernels of a chapter are compiled together, as one program that is told
# which of them to be (tools/bundle): so that one more costs next to nothing. A test for
# each says that the chapter's tests reject it. The program can also be one of the right
# texts that the wrong ones are edits of; a test says that those pass.
#
#   wb_wrong_kernels(program id test day contract_dir labels PREFIX prefix
#                    SOURCES file… [RIGHT file.cu…] [INCLUDES dir…] [CHECK count])
function(wb_wrong_kernels program id test day contract_dir labels)
    cmake_parse_arguments(ARG "" "PREFIX;CHECK" "SOURCES;RIGHT;INCLUDES" ${ARGN})
    if(NOT ARG_SOURCES)
        return()
    endif()
    get_filename_component(chapter ${contract_dir} NAME)
    get_filename_component(course ${contract_dir} DIRECTORY)
    get_filename_component(course ${course} NAME)
    file(GLOB solution
        ${CMAKE_SOURCE_DIR}/solutions/${course}/${chapter}/${name}.cu)
    set(bundle ${CMAKE_BINARY_DIR}/wrong/${program}.cu)
    list(TRANSFORM ARG_INCLUDES PREPEND -I OUTPUT_VARIABLE searched)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/wrong)
    add_custom_command(OUTPUT ${bundle}
        COMMAND wb_bundle --solution ${solution} --chapter ${contract_dir}
            --root ${CMAKE_SOURCE_DIR} -o ${bundle} --dependencies ${bundle}.d
            ${searched} ${ARG_RIGHT} ${ARG_SOURCES}
        DEPENDS wb_bundle ${solution} ${ARG_RIGHT} ${ARG_SOURCES}
        DEPFILE ${bundle}.d
        COMMENT "Bundle of ${program}" VERBATIM)
    set(check "")
    if(ARG_CHECK)
        set(check CHECK ${ARG_CHECK})
    endif()
    set(kinds "")
    if(ARG_PREFIX STREQUAL "goals.")
        set(kinds -DKINDS=goal_missed)  # they are right otherwise
    endif()
    wb_kernels(${program}_kernels ${bundle} WERROR ${check}
        INCLUDES ${contract_dir} ${ARG_INCLUDES})
    set_target_properties(${program}_kernels PROPERTIES EXCLUDE_FROM_ALL ON)
    wb_test_program(${program} ${id}_tests ${program}_kernels)
    wb_add_to_workbook(${day} ${program})
    foreach(source ${ARG_SOURCES})
        get_filename_component(mutant ${source} NAME_WE)
        set(case ${test}.mutant.${ARG_PREFIX}${mutant})
        add_test(NAME ${case} COMMAND ${CMAKE_COMMAND}
            -DPROGRAM=$<TARGET_FILE:${program}> -DSOURCE=${source} ${kinds}
            -P ${WB_SCRIPTS}/expect_rejected.cmake)
        set_tests_properties(${case} PROPERTIES LABELS "${labels}"
            TIMEOUT ${WB_TEST_TIMEOUT} FIXTURES_REQUIRED built.${test}.workbook)
        wb_leaves_verdict(${case} WB_WRONG_KERNEL=${mutant})
    endforeach()
    foreach(source ${ARG_RIGHT})
        get_filename_component(right ${source} NAME_WE)
        add_test(NAME ${test}.${right} COMMAND ${CMAKE_COMMAND}
            -DPROGRAM=$<TARGET_FILE:${program}> -DSOURCE=${source}
            -P ${WB_SCRIPTS}/expect_right.cmake)
        set_tests_properties(${test}.${right} PROPERTIES LABELS "${labels}"
            TIMEOUT ${WB_TEST_TIMEOUT} FIXTURES_REQUIRED built.${test}.workbook)
        wb_leaves_verdict(${test}.${right} WB_WRONG_KERNEL=${right})
    endforeach()
endfunction()

# What ./learn builds when it is asked for, in the simulator: the learner's file (or the
# solution) with every memory access announced to the checker.
# `of` names the chapter whose tests and benchmark they run.
function(wb_checked_programs id of who source contract_dir)
    set(suffix "")
    set(learners LEARNERS)
    set(own wb_learners_program)
    set(given ${given_to_checked})
    if(who STREQUAL "solution")
        set(suffix _solution)
        set(learners "")
        set(own "")
    elseif(given)
        wb_mine(given ${given})
    endif()
    set(kernels ${id}_checked${suffix}_kernels)
    wb_kernels(${kernels} ${source} CHECK count INCLUDES ${contract_dir})
    set_target_properties(${kernels} PROPERTIES EXCLUDE_FROM_ALL ON)
    wb_test_program(${id}_checked${suffix} ${of}_tests ${kernels} ${learners})
    if(TARGET ${of}_bench_main)
        add_executable(${id}_xray${suffix} EXCLUDE_FROM_ALL
            $<TARGET_OBJECTS:${of}_bench_main>)
        if(TARGET ${of}_given_checked)
            list(TRANSFORM given REPLACE "_given$" "_given_checked")
        endif()
        target_link_libraries(${id}_xray${suffix} PRIVATE
            ${kernels} ${given} ${own} wb_bench)
        wb_link_peers(${id}_xray${suffix} ${of})
    endif()
endfunction()

# What a benchmark compares with, where that needs kernels, CUB say: the chapter's file
# <name>_bench_peers.cu.
function(wb_link_peers program chapter)
    if(TARGET ${chapter}_bench_peers)
        target_link_libraries(${program} PRIVATE ${chapter}_bench_peers)
    endif()
endfunction()

# CTest's view of the checker: solutions are safe and meet their goals, and what misses
# a goal is told so.
function(wb_checked_tests id day test tests_dir contract_dir labels)
    set(given ${given_to_checked})
    set(solution $<TARGET_FILE:${id}_checked_solution>)
    add_test(NAME ${test}.checked COMMAND ${CMAKE_COMMAND} -DPROGRAM=${solution}
        "-DCASES=~[large]~[long]~[fault]~[goal]~[values]" -P ${WB_SCRIPTS}/expect_safe.cmake)
    wb_leaves_verdict(${test}.checked)
    set(tests ${test}.checked)
    wb_add_to_workbook(${day} ${id}_checked_solution)
    wb_find_wrong_kernels(mutants ${tests_dir}/mutants/goals)
    file(GLOB texts CONFIGURE_DEPENDS ${tests_dir}/*_test.cpp)
    set(goals "")  # a chapter may have mutants whose race the checker sees, and no goal
    foreach(text ${texts})
        file(STRINGS ${text} lines REGEX "\\[goal\\]")
        list(APPEND goals ${lines})
    endforeach()
    if(mutants AND goals)
        add_test(NAME ${test}.goals COMMAND ${CMAKE_COMMAND} -DPROGRAM=${solution}
            -DCOUNT=1 "-DCASES=[goal]" -P ${WB_SCRIPTS}/expect_safe.cmake)
        wb_leaves_verdict(${test}.goals)
        list(APPEND tests ${test}.goals)
    endif()
    wb_wrong_kernels(${id}_wrong_goals ${id} ${test} ${day} ${contract_dir} "${labels}"
        PREFIX goals. CHECK count SOURCES ${mutants})
    # All cases in one program, which the checker makes ten times as slow,
    # and emulated wgmma more so.
    set_tests_properties(${tests} PROPERTIES LABELS "${labels}"
        TIMEOUT 1200 FIXTURES_REQUIRED built.${test}.workbook)
endfunction()

# starter(result path): the file that a solution gives to learners.
function(wb_starter result file)
    set(solution ${CMAKE_SOURCE_DIR}/solutions/${file})
    set(starter ${CMAKE_BINARY_DIR}/starters/${file})
    add_custom_command(OUTPUT ${starter}
        COMMAND Python3::Interpreter ${WB_MARKERS} ${solution} ${starter}
        DEPENDS ${WB_MARKERS} ${solution}
        COMMENT "Starter ${file}")
    set_property(GLOBAL APPEND PROPERTY WB_STARTERS ${starter})
    set(${result} ${starter} PARENT_SCOPE)
endfunction()

# The starter <id>_unsolved says what is to be written, and passes nothing; with FAST,
# nothing but what the second stage is given.
function(wb_expect_unsolved test id labels)
    add_test(NAME ${test}.unsolved COMMAND ${CMAKE_COMMAND}
        -DPROGRAM=$<TARGET_FILE:${id}_unsolved> ${ARGN}
        -P ${WB_SCRIPTS}/expect_unsolved.cmake)
    set_tests_properties(${test}.unsolved PROPERTIES LABELS "${labels}" TIMEOUT 300
        FIXTURES_REQUIRED built.${test}.workbook)
    wb_leaves_verdict(${test}.unsolved)
endfunction()

# "Go faster", for wb_chapter(): with day01_vector_add_fast for day01_vector_add and
# day01.vector_add_fast for day01.vector_add the learner's program, its starter, the
# solution, the learner's benchmark and checked program. The ladder includes the solution
# as a version, so it is under all of the workbook's tests there; here, one test runs it.
function(wb_second_stage)
    set(stage ${id}_fast)
    set(stage_test ${test}_fast)
    set(file ${contract_dir}/${name}_fast.cu)
    wb_starter(starter ${path}/${name}_fast.cu)
    wb_kernels(${stage}_learner_kernels ${file} INCLUDES ${contract_dir})
    wb_test_program(${stage} ${id}_tests ${stage}_learner_kernels LEARNERS)
    # In the simulator, some cases would take longer than ./learn lets them.
    set(short "")
    set(solution ${CMAKE_SOURCE_DIR}/solutions/${path}/${name}_fast.cu)
    file(STRINGS ${solution} marked REGEX "^// Only the short test cases")
    if(marked AND WB_BACKEND STREQUAL "sim")
        set(short SHORT)
    endif()
    wb_add_tests(${stage} ${stage_test} "learner;faster;${day};${name}" SOURCES ${cases}
        LEARNER ${file} ${short})
    add_dependencies(learner ${stage})

    wb_kernels(${stage}_unsolved_kernels ${starter} WERROR QUICK INCLUDES ${contract_dir})
    add_custom_target(${stage}_kernels DEPENDS ${starter})
    add_dependencies(${stage}_unsolved_kernels ${stage}_kernels)
    wb_test_program(${stage}_unsolved ${id}_tests ${stage}_unsolved_kernels)
    wb_expect_unsolved(${stage_test} ${stage} "${labels}" -DFAST=ON -DSOURCE=${solution})
    wb_kernels(${stage}_solution_kernels ${solution} WERROR INCLUDES ${contract_dir})
    wb_test_program(${stage}_solution ${id}_tests ${stage}_solution_kernels)
    add_test(NAME ${stage_test}.solution.all COMMAND ${CMAKE_COMMAND}
        -DPROGRAM=$<TARGET_FILE:${stage}_solution> -DSOURCE=${solution}
        -P ${WB_SCRIPTS}/expect_right.cmake)
    set_tests_properties(${stage_test}.solution.all PROPERTIES LABELS "${labels}"
        TIMEOUT ${WB_TEST_TIMEOUT} FIXTURES_REQUIRED built.${stage_test}.workbook)
    wb_leaves_verdict(${stage_test}.solution.all)
    wb_add_to_workbook(${day} ${stage}_unsolved ${stage}_solution)
    wb_built_first(${stage_test}.workbook ${stage}_unsolved ${stage}_solution)

    if(TARGET ${id}_bench_main)
        add_executable(${stage}_bench_learner EXCLUDE_FROM_ALL
            $<TARGET_OBJECTS:${id}_bench_main>)
        target_link_libraries(${stage}_bench_learner PRIVATE
            ${stage}_learner_kernels ${given} wb_learners_program wb_bench)
        wb_link_peers(${stage}_bench_learner ${id})
    endif()
    if(WB_BACKEND STREQUAL "sim")
        wb_checked_programs(${stage} ${id} learner ${file} ${contract_dir})
        wb_checked_programs(${stage} ${id} solution ${solution} ${contract_dir})
    endif()
endfunction()

function(wb_chapter path)
    # Sets WB_HOPPER …
    cmake_parse_arguments(WB "HOPPER;BLACKWELL" "GATE" "GIVEN;USES;NEEDS" ${ARGN})
    string(REGEX MATCH "^(day[0-9]+)-[^/]+/[0-9]+-(.+)$" matched "${path}")
    if(NOT matched)
        message(FATAL_ERROR "wb_chapter: '${path}' is not of the form dayNN-name/NN-chapter")
    endif()
    set(day ${CMAKE_MATCH_1})
    string(REPLACE "-" "_" name ${CMAKE_MATCH_2})
    set(WB_CHAPTER ${day}_${name})  # for wb_add_to_workbook()
    foreach(needed ${WB_NEEDS})
        if(NOT TARGET ${needed})
            message(STATUS "${path} is left out: ./learn doctor says what it needs")
            return()
        endif()
    endforeach()
    set(id ${day}_${name})
    set(test ${day}.${name})
    set(contract_dir ${CMAKE_SOURCE_DIR}/${path})
    set(solution ${CMAKE_SOURCE_DIR}/solutions/${path}/${name}.cu)
    set(tests_dir ${CMAKE_SOURCE_DIR}/tests/${path})
    wb_starter(starter ${path}/${name}.cu)

    wb_kernels(${id}_solution_kernels ${solution} WERROR GATED EVERY_GPU
        INCLUDES ${contract_dir})
    set(given "")
    set(given_to_checked "")
    if(WB_GIVEN)
        wb_given_sources(${id} ${contract_dir} ${WB_GIVEN})
        set(given ${id}_given)
        set(given_to_checked ${id}_given)
    endif()
    foreach(used ${WB_USES})
        list(APPEND given ${used}_solution_kernels)
        list(APPEND given_to_checked ${used}_checked_solution_kernels)
    endforeach()
    list(APPEND given ${WB_NEEDS})
    list(APPEND given_to_checked ${WB_NEEDS})
    wb_kernels(${id}_unsolved_kernels ${starter} WERROR QUICK INCLUDES ${contract_dir})
    add_custom_target(${id}_kernels DEPENDS ${starter})
    add_dependencies(${id}_unsolved_kernels ${id}_kernels)

    # The learner's program.
    # A learner reads of the first case that fails: the plainest ones come first.
    file(GLOB cases CONFIGURE_DEPENDS ${tests_dir}/${name}*_test.cpp)
    list(REMOVE_ITEM cases ${tests_dir}/${name}_test.cpp)
    list(PREPEND cases ${tests_dir}/${name}_test.cpp)
    wb_test_library(${id}_tests "${cases}" ${contract_dir})
    target_link_libraries(${id}_tests PUBLIC ${WB_NEEDS})
    wb_kernels(${id}_learner_kernels ${contract_dir}/${name}.cu
        INCLUDES ${contract_dir})
    wb_test_program(${id} ${id}_tests ${id}_learner_kernels LEARNERS)
    wb_add_tests(${id} ${test} "learner;${day};${name}" SOURCES ${cases}
        LEARNER ${contract_dir}/${name}.cu)
    add_dependencies(learner ${id})

    # The workbook's own: the solution passes, the starter says what to do, and every
    # known-wrong kernel is rejected.
    set(labels "workbook;${day};${name}")
    wb_test_program(${id}_solution ${id}_tests ${id}_solution_kernels)
    wb_add_tests(${id}_solution ${test}.solution "${labels}" SOURCES ${cases}
        FIXTURE ${test}.workbook)
    wb_test_program(${id}_unsolved ${id}_tests ${id}_unsolved_kernels)
    wb_expect_unsolved(${test} ${id} "${labels}")
    wb_add_to_workbook(${day} ${id}_solution ${id}_unsolved)

    wb_find_wrong_kernels(mutants ${tests_dir}/mutants)
    if(WB_BACKEND STREQUAL "sim")
        foreach(folder orders sim)
            wb_find_wrong_kernels(only_here ${tests_dir}/mutants/${folder})
            list(APPEND mutants ${only_here})
        endforeach()
    endif()
    file(GLOB right CONFIGURE_DEPENDS ${tests_dir}/mutants/right*.cu)
    wb_wrong_kernels(${id}_wrong ${id} ${test} ${day} ${contract_dir} "${labels}"
        SOURCES ${mutants} RIGHT ${right})

    # Benchmarks: the ladder, and the learner's kernel against the same sizes.
    set(bench ${tests_dir}/${name}_bench.cpp)
    if(TARGET wb_bench AND EXISTS ${bench})
        add_library(${id}_bench_main OBJECT EXCLUDE_FROM_ALL ${bench})
        target_link_libraries(${id}_bench_main PUBLIC wb_bench)
        target_include_directories(${id}_bench_main PRIVATE ${contract_dir})
        target_compile_options(${id}_bench_main PRIVATE -Wall -Wextra)
        wb_precompiled(${id}_bench_main wb_bench_headers)
        set(peers ${tests_dir}/${name}_bench_peers.cu)
        if(EXISTS ${peers})
            wb_kernels(${id}_bench_peers ${peers} WERROR INCLUDES ${contract_dir})
            set_target_properties(${id}_bench_peers PROPERTIES EXCLUDE_FROM_ALL ON)
        endif()
        foreach(who solution learner)
            set(program ${id}_bench)
            set(linked ${given})
            if(who STREQUAL "learner")
                set(program ${id}_bench_learner)
                wb_mine(linked ${given})
            endif()
            add_executable(${program} EXCLUDE_FROM_ALL
                $<TARGET_OBJECTS:${id}_bench_main>)
            target_link_libraries(${program} PRIVATE
                ${id}_${who}_kernels ${linked} wb_bench)
            if(who STREQUAL "learner")
                target_link_libraries(${program} PRIVATE wb_learners_program)
            endif()
            wb_link_peers(${program} ${id})
        endforeach()
        wb_add_to_workbook(${day} ${id}_bench)
    endif()

    # Programs that only this chapter has.
    if(EXISTS ${tests_dir}/CMakeLists.txt)
        add_subdirectory(${tests_dir})
    endif()

    if(WB_BACKEND STREQUAL "sim")
        wb_checked_programs(${id} ${id} learner ${contract_dir}/${name}.cu
            ${contract_dir})
        wb_checked_programs(${id} ${id} solution ${solution} ${contract_dir})
        wb_checked_tests(${id} ${day} ${test} ${tests_dir} ${contract_dir} "${labels}")
        wb_mutants(${id} ${path} ${name} ${contract_dir})
    endif()

    if(EXISTS ${CMAKE_SOURCE_DIR}/solutions/${path}/${name}_fast.cu)
        wb_second_stage()
    endif()

    set(programs)
    foreach(program solution unsolved wrong checked_solution wrong_goals)
        if(TARGET ${id}_${program})
            list(APPEND programs ${id}_${program})
        endif()
    endforeach()
    wb_built_first(${test}.workbook ${programs})
endfunction()

# The target that makes all starters.
function(wb_starters)
    get_property(starters GLOBAL PROPERTY WB_STARTERS)
    add_custom_target(starters DEPENDS ${starters})
    foreach(chapter ${WB_MINE})
        if(NOT TARGET ${chapter}_learner_kernels)
            message(FATAL_ERROR "WB_MINE names ${chapter}, which is no chapter: they are "
                "called as in day03_layernorm")
        endif()
    endforeach()
endfunction()
