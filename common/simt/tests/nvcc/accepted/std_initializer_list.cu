#include <initializer_list>
__global__ void k(int* o) {
    for (int x : {1, 2, 3}) o[0] += x;
    std::initializer_list<int> l = {4, 5};
    o[1] = l.size() + *l.begin();
}
int main() {}
