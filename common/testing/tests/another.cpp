// A function of a library, which with_parts.cpp is linked with as well.
int part_of_a_library();

int part_of_a_library() {
    return 1;
}
