// expect: lambda_trait.cu:4: error: __nv_is_extended_device_lambda_closure_type is not supported by the simulator; guard it
int main() {
    auto f = [](int i) { return i; };
    return __nv_is_extended_device_lambda_closure_type(decltype(f));
}
