// expect: a static "__shared__" variable declaration is not allowed inside a host function body
int main() {
    __shared__ float s[32];  // here
    (void)s;
}
