// expect: texture_reference.cu:2: error: texture references were removed in CUDA 12
texture<float, 2> image;
int main() {}
