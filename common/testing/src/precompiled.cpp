// Empty: CMake makes the precompiled header of wb_test_headers beside some source file.
