struct A {
    int x = 3;
    A() = default;
    A(const A&) = default;
    A& operator=(const A&) = default;
    ~A() = default;
};
struct B { A a; float y; };
__global__ void k(B b, int* o) {
    A a;
    A c = a;
    B d{c, 2};
    d = b;
    o[0] = d.a.x + a.x;
}
int main() {}
