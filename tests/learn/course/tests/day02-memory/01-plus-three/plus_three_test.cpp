#include "plus_three.h"

#include "../../grade.h"

int main(int argc, char** argv) {
    return run_case("plus_three", plus_three, 3, argc > 1 ? argv[1] : "");
}
