// What a compiler puts into programs and libraries where the system's C++ runtime is
// older: both have it.
namespace std {
int part_of_the_runtime();

int part_of_the_runtime() {
    return 1;
}
}  // namespace std
