// The subset of thrust.
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>
#include <thrust/universal_vector.h>

#include <cub/device/device_reduce.cuh>

#include "check.h"

namespace {

struct Square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};
struct Even {
    __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct AddPair {
    __host__ __device__ int operator()(const thrust::tuple<int, int>& t) const {
        return thrust::get<0>(t) + thrust::get<1>(t);
    }
};
__global__ void twice(int* values, int count) {
    const int i = threadIdx.x;
    if (i < count) values[i] *= 2;
}

void test_vectors() {
    thrust::device_vector<int> d(10);
    thrust::sequence(d.begin(), d.end(), 1);
    twice<<<1, 32>>>(thrust::raw_pointer_cast(d.data()), int(d.size()));
    check::need(cudaDeviceSynchronize(), "kernel on a device_vector");
    const thrust::host_vector<int> h = d;
    check::expect(h[9] == 20 && int(d[4]) == 10, "device_vector, host_vector, kernel");
    thrust::device_vector<float> f(h);
    f.resize(12, 7.0f);
    thrust::fill(f.begin(), f.begin() + 2, 3.0f);
    check::expect(float(f[1]) == 3 && float(f[11]) == 7 && f.size() == 12,
                  "conversion, resize, fill");
    thrust::device_ptr<int> p =
        thrust::device_pointer_cast(thrust::raw_pointer_cast(d.data()));
    check::expect(thrust::reduce(p, p + 10) == 110, "device_ptr");
}

void test_algorithms() {
    thrust::device_vector<int> d(100);
    thrust::sequence(thrust::device, d.begin(), d.end());
    thrust::device_vector<int> squares(100);
    thrust::transform(d.begin(), d.end(), squares.begin(), Square());
    check::expect(thrust::reduce(
                      squares.begin(), squares.end(), 0, thrust::plus<int>()) == 328350,
                  "transform, reduce");
    check::expect(thrust::transform_reduce(
                      d.begin(), d.end(), Square(), 0, thrust::maximum<int>()) == 9801,
                  "transform_reduce");
    thrust::device_vector<int> scan(100);
    thrust::exclusive_scan(d.begin(), d.end(), scan.begin());
    check::expect(int(scan[99]) == 4851 && int(scan[0]) == 0, "exclusive_scan");
    thrust::inclusive_scan(d.begin(), d.end(), scan.begin());
    check::expect(int(scan[99]) == 4950, "inclusive_scan");
    check::expect(thrust::inner_product(d.begin(), d.end(), d.begin(), 0) == 328350,
                  "inner_product");
    thrust::sort(thrust::device, d.begin(), d.end(), thrust::greater<int>());
    check::expect(int(d[0]) == 99, "sort");
    const auto smallest = thrust::min_element(d.begin(), d.end());
    check::expect(smallest - d.begin() == 99 && int(*smallest) == 0, "min_element");
    const auto end = thrust::remove_if(d.begin(), d.end(), Even());
    check::expect(end - d.begin() == 50, "remove_if");

    using namespace thrust::placeholders;
    thrust::device_vector<float> x(4, 2.0f), y(4, 1.0f);
    thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), 3.0f * _1 + _2);
    check::expect(float(y[3]) == 7, "placeholders");
}

void test_keys() {
    const int raw_keys[] = {3, 1, 3, 2, 1, 3};
    thrust::device_vector<int> keys(raw_keys, raw_keys + 6);
    thrust::device_vector<int> values(6);
    thrust::sequence(values.begin(), values.end());
    thrust::stable_sort_by_key(keys.begin(), keys.end(), values.begin());
    check::expect(int(values[0]) == 1 && int(values[1]) == 4 && int(values[5]) == 5,
                  "stable_sort_by_key");
    thrust::device_vector<int> unique_keys(6), sums(6);
    const auto ends = thrust::reduce_by_key(keys.begin(),
                                            keys.end(),
                                            thrust::constant_iterator<int>(1),
                                            unique_keys.begin(),
                                            sums.begin());
    check::expect(
        ends.first - unique_keys.begin() == 3 && int(sums[0]) == 2 && int(sums[2]) == 3,
        "reduce_by_key");
    thrust::device_vector<int> bounds(4);
    thrust::upper_bound(keys.begin(),
                        keys.end(),
                        thrust::counting_iterator<int>(0),
                        thrust::counting_iterator<int>(4),
                        bounds.begin());
    check::expect(int(bounds[0]) == 0 && int(bounds[1]) == 2 && int(bounds[3]) == 6,
                  "upper_bound of many values");
    const auto last = thrust::unique(keys.begin(), keys.end());
    check::expect(last - keys.begin() == 3, "unique");
}

void test_iterators() {
    thrust::device_vector<int> a(5, 1), b(5);
    thrust::sequence(b.begin(), b.end());
    const auto first =
        thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin()));
    const auto last = thrust::make_zip_iterator(thrust::make_tuple(a.end(), b.end()));
    thrust::device_vector<int> sums(5);
    thrust::transform(first, last, sums.begin(), AddPair());
    check::expect(int(sums[4]) == 5 && last - first == 5, "zip_iterator");
    check::expect(
        thrust::reduce(thrust::make_transform_iterator(b.begin(), Square()),
                       thrust::make_transform_iterator(b.end(), Square())) == 30,
        "transform_iterator");
    thrust::device_vector<int> map(2);
    map[0] = 4;
    map[1] = 2;
    check::expect(
        thrust::reduce(thrust::make_permutation_iterator(sums.begin(), map.begin()),
                       thrust::make_permutation_iterator(sums.begin(), map.end())) == 8,
        "permutation_iterator");
    thrust::device_vector<int> picked(2);
    thrust::gather(map.begin(), map.end(), sums.begin(), picked.begin());
    check::expect(int(picked[0]) == 5, "gather");
}

struct Side {
    __host__ __device__ int operator()(int x) const {
#ifdef __CUDA_ARCH__
        return x + 100;
#else
        return -x;
#endif
    }
    __host__ __device__ int operator()(int x, int y) const {
        return (*this)(x + y);
    }
};

void test_sides() {
    thrust::device_vector<int> d(4, 5), to(4);
    thrust::host_vector<int> h(4, 5);
    thrust::transform(d.begin(), d.end(), to.begin(), Side());
    check::expect(int(to[3]) == 105, "a functor on a device_vector is device code");
    thrust::transform(h.begin(), h.end(), h.begin(), Side());
    check::expect(h[3] == -5, "on a host_vector it is host code");
    int* raw = thrust::raw_pointer_cast(d.data());
    thrust::transform(thrust::device, raw, raw + 4, raw, Side());
    check::expect(int(d[3]) == 105, "thrust::device says where pointers lead");
    thrust::universal_vector<int> u(4, 5);
    thrust::transform(u.begin(), u.end(), u.begin(), Side());
    check::expect(u[3] == 105, "universal_vector");
    const thrust::counting_iterator<int> count(0);
    thrust::transform(count, count + 4, to.begin(), Side());
    check::expect(int(to[3]) == 103, "counting_iterator to a device_vector");
    const auto sided = thrust::make_transform_iterator(u.begin(), Side());
    check::expect(thrust::reduce(sided, sided + 4) == 820, "transform_iterator");
    check::expect(Side()(3) == -3, "afterwards the host runs its own side");

    size_t bytes = 0;
    int* out = thrust::raw_pointer_cast(to.data());
    check::need(cub::DeviceReduce::Reduce(nullptr, bytes, raw, out, 2, Side(), 0),
                "bytes");
    thrust::device_vector<char> memory(bytes);
    void* temporary = thrust::raw_pointer_cast(memory.data());
    check::need(cub::DeviceReduce::Reduce(temporary, bytes, raw, out, 2, Side(), 0),
                "Reduce");
    check::expect(int(to[0]) >= 310, "cub's operators are device code");
}

}  // namespace

int main() {
    test_vectors();
    test_algorithms();
    test_keys();
    test_iterators();
    test_sides();
    return check::report();
}
