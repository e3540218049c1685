#include "plus_two.h"

#include "../../grade.h"

int main(int argc, char** argv) {
    return run_case("plus_two", plus_two, 2, argc > 1 ? argv[1] : "");
}
