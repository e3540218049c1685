/// thrust_check.h: comparing vectors in the tests of thrust.
#pragma once
#include <thrust/host_vector.h>

#include <initializer_list>
#include <vector>

#include "../devlib/check.h"

/// Checks a vector's size and elements.
template <class Vector>
void expect_equal(const Vector& vector,
                  std::initializer_list<int> expected,
                  const char* what) {
    const thrust::host_vector<typename Vector::value_type> host = vector;
    bool same = host.size() == expected.size();
    size_t i = 0;
    for (const int value : expected) {
        if (!same) break;
        same = host[i++] == static_cast<typename Vector::value_type>(value);
    }
    check::expect(same, what);
}
