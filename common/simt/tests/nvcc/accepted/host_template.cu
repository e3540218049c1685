__device__ int half_of(int x) { return x / 2; }
template <class T>
T f(T x) { return half_of(x); }
int main(int argc, char**) {
    return f(argc);
}
