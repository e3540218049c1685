// expect: no_such_header.h
#include "no_such_header.h"  // here
int main() {}
