#include <cstdio>
int main(int argc, char**) {
    float r[argc];
    r[0] = 1;
    printf("%f", r[0]);
}
