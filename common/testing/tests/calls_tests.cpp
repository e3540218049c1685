// The library of tests that calls.cpp is linked with: it has none.
int common_calls_tests = 0;
