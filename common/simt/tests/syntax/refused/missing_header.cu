// expect: missing_header.cu:2:10: fatal error: .?no_such_header.h.?.*not? found|No such file
#include "no_such_header.h"
int main() {}
