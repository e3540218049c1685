struct Big { char x[32764]; };
__global__ void k(Big b) {}
int main() {}
