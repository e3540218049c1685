// A kernel that writes behind memory of its malloc: the C library ends the program.
__global__ void heap(int* out, int n) {
    int* own = static_cast<int*>(malloc(n * sizeof(int)));
    int* next = static_cast<int*>(malloc(n * sizeof(int)));
    for (int i = 0; i < n + 4; ++i)
        own[i] = i;
    out[0] = own[1];
    free(next);
    free(own);
}

int main() {
    int* out;
    cudaMallocManaged(&out, sizeof(int));
    // says: kernel heap launched at heap.cu:16: the C library's heap is damaged
    heap<<<1, 1>>>(out, 400);
    return cudaDeviceSynchronize();
}
