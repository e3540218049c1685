// expect: __global__ function "k" cannot be defined in a friend declaration
struct Model {
    friend __global__ void k(Model* m) {  // here
        m->x = 1;
    }
    int x;
};
int main() {}
