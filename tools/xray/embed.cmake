# Writes page.cpp, which holds the style sheet and the script of the HTML report.
#   cmake -DCSS= -DJS= -DOUTPUT= -P embed.cmake
file(READ ${CSS} css)
file(READ ${JS} js)
file(WRITE ${OUTPUT} "#include \"page.h\"\nnamespace xray {\n"
    "const char* const kStyle = R\"~~~(${css})~~~\";\n"
    "const char* const kScript = R\"~~~(${js})~~~\";\n}\n")
