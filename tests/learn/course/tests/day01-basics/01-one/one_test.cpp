#include "one.h"

#include "../../grade.h"

int main(int argc, char** argv) {
    return run_case("one", one, 1, argc > 1 ? argv[1] : "");
}
