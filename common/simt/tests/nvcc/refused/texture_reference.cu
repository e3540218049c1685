// expect: texture references were removed in CUDA 12
texture<float, 2> image;  // here
int main() {}
