// A program that has a function of its own where the tests expect the library's.
extern "C" double log(double x) noexcept {
    return x;
}
