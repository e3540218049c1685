# wb_bundle as a program: right texts, edits of them and of a header, and what it refuses.
#   cmake -DBUNDLE= -DDIR= -P bundle_test.cmake
file(REMOVE_RECURSE ${DIR})
set(mutants ${DIR}/tests/mutants)
file(WRITE ${DIR}/chapter/sum.h "int sum(int a, int b);\n")
file(WRITE ${DIR}/solution.cu "#include \"sum.h\"\nint sum(int a, int b) { return a + b; }\n")
file(WRITE ${mutants}/add.h "#pragma once\ninline int add(int a, int b) {\n    return a + b;\n}\n")
file(WRITE ${mutants}/right.cu
    "#include \"add.h\"\n#include \"sum.h\"\nint sum(int a, int b) {\n    return add(a, b);\n}\n")

function(bundle expected_status expected_text)
    execute_process(COMMAND ${BUNDLE} --solution ${DIR}/solution.cu
        --chapter ${DIR}/chapter --root ${DIR} -o ${DIR}/out.cu
        --dependencies ${DIR}/out.d ${ARGN}
        RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT status EQUAL expected_status)
        message(SEND_ERROR "${ARGN}: status ${status}\n${output}")
    endif()
    if(status EQUAL 0)
        file(READ ${DIR}/out.cu output)
    endif()
    string(FIND "${output}" "${expected_text}" at)
    if(at EQUAL -1)
        message(SEND_ERROR "${ARGN}: no '${expected_text}' in\n${output}")
    endif()
endfunction()

# An edit of right.cu: compilers are told which line is whose.
file(WRITE ${mutants}/minus.diff "# subtracts\n-    return add(a, b);\n+    return a - b;\n")
bundle(0 "namespace wrong_minus {
int sum(int a, int b);
#line 1 \"${mutants}/right.cu\"


int sum(int a, int b) {
#line 3 \"${mutants}/minus.diff\"
    return a - b;
#line 5 \"${mutants}/right.cu\"
}
}" ${mutants}/right.cu ${mutants}/minus.diff)
file(READ ${DIR}/out.d rule)
foreach(file right.cu minus.diff add.h)
    if(NOT rule MATCHES "/mutants/${file}")
        message(SEND_ERROR "the bundle does not depend on ${file}: ${rule}")
    endif()
endforeach()

# An edit of a header that right.cu includes: this kernel gets a copy of its own. An edit
# in a folder below finds the texts above; a solution is named from the root.
file(WRITE ${mutants}/sim/times.diff "# Edits: add.h\n-    return a + b;\n+    return a * b;\n")
bundle(0 "    return a * b;" ${mutants}/sim/times.diff)
bundle(0 "    return add(a, b);" ${mutants}/sim/times.diff)
file(WRITE ${mutants}/sim/same.diff
    "# Edits: solution.cu\n-int sum(int a, int b) { return a + b; }\n"
    "+int sum(int a, int b) { return a; }\n")
bundle(0 "int sum(int a, int b) { return a; }" ${mutants}/sim/same.diff)

file(WRITE ${mutants}/right_twice.cu
    "#include \"add.h\"\n#include \"sum.h\"\n"
    "int sum(int a, int b) {\n    return add(add(a, 0), b);\n}\n")
file(WRITE ${mutants}/twice.diff
    "# Edits: add.h\n# Of: right_twice.cu\n-    return a + b;\n+    return a - b;\n")
bundle(0 "    return add(add(a, 0), b);" ${mutants}/twice.diff)

# What is included below code may use that code: it stands below it in the bundle, too.
file(WRITE ${mutants}/below.h "#pragma once\ninline int half(int a) { return a / kTwo; }\n")
file(WRITE ${mutants}/below.cu
    "// A comment, and directives, are no code.\n#include \"add.h\"\n#include \"sum.h\"\n"
    "const int kTwo = 2;\n#include \"below.h\"\n"
    "int sum(int a, int b) {\n    return half(add(a, b));\n}\n")
bundle(0 "#include \"${mutants}/add.h\"" ${mutants}/below.cu)
bundle(0 "const int kTwo = 2;
#line 1 \"${mutants}/below.h\"

inline int half(int a) { return a / kTwo; }
#line 6 \"${mutants}/below.cu\"" ${mutants}/below.cu)

# What such a file includes of the solution's folder is part of the kernel, too; what it
# includes from elsewhere is not.
file(WRITE ${DIR}/part.cuh "#pragma once\nnamespace parts {\ninline int one() { return 1; }\n}\n")
file(WRITE ${DIR}/whole.cuh "#pragma once\n#include \"add.h\"\n#include \"part.cuh\"\n"
    "namespace parts {\ninline int two() { return add(one(), 1); }\n}\n")
file(WRITE ${DIR}/chapter/add.h
    "#pragma once\ninline int add(int a, int b) {\n    return a + b;\n}\n")
file(WRITE ${mutants}/parts.cu
    "#include \"sum.h\"\nconst int kZero = 0;\n#include \"../../whole.cuh\"\n"
    "int sum(int a, int b) {\n    return a + b + parts::two();\n}\n")
bundle(0 "#line 1 \"${DIR}/part.cuh\"

namespace parts {
inline int one() { return 1; }" ${mutants}/parts.cu)
bundle(0 "#include \"${DIR}/chapter/add.h\"" ${mutants}/parts.cu)

# What it refuses, with file and line.
file(WRITE ${mutants}/lost.diff "# Edits: ad.h\n-x\n")
bundle(1 "lost.diff:1: there is no file ad.h" ${mutants}/lost.diff)
file(WRITE ${mutants}/other.h "int x;\n")
file(WRITE ${mutants}/other.diff "# Edits: other.h\n-int x;\n")
bundle(1 "other.diff:1: ${mutants}/right.cu does not include other.h" ${mutants}/other.diff)
file(WRITE ${mutants}/drift.diff "-    return sub(a, b);\n")
bundle(1 "drift.diff:1: 'return sub(a, b);' does not stand in ${mutants}/right.cu"
    ${mutants}/drift.diff)
