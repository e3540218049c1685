// Algorithms of thrust: results of whole sequences, policies, errors.
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/find.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/logical.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/replace.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/system_error.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>
#include <thrust/transform_scan.h>
#include <thrust/unique.h>

#include "thrust_check.h"

namespace {
using namespace thrust::placeholders;
using Ints = thrust::device_vector<int>;

struct Even {
    __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct Square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};

Ints ints(std::initializer_list<int> values) {
    return Ints(std::vector<int>(values));
}

void test_elementwise() {
    Ints v(5);
    thrust::sequence(v.begin(), v.end(), 10, 3);
    expect_equal(v, {10, 13, 16, 19, 22}, "sequence with a step");
    thrust::tabulate(v.begin(), v.end(), Square());
    expect_equal(v, {0, 1, 4, 9, 16}, "tabulate");
    thrust::transform_if(v.begin(), v.end(), v.begin(), thrust::negate<int>(), Even());
    expect_equal(v, {0, 1, -4, 9, -16}, "transform_if");
    thrust::replace_if(thrust::device, v.begin(), v.end(), _1 < 0, 7);
    expect_equal(v, {0, 1, 7, 9, 7}, "replace_if with a placeholder");
    const Ints marks = ints({1, 0, 2, 0, 0});
    Ints copied(5);
    thrust::replace_copy_if(
        v.begin(), v.end(), marks.begin(), copied.begin(), _1 > 0, 5);
    expect_equal(copied, {5, 1, 5, 9, 7}, "replace_copy_if with a stencil");
    thrust::replace_copy_if(
        thrust::device, v.begin(), v.end(), copied.begin(), Even(), 3);
    expect_equal(copied, {3, 1, 7, 9, 7}, "replace_copy_if");
    thrust::replace_if(copied.begin(), copied.end(), marks.begin(), _1 > 0, 8);
    expect_equal(copied, {8, 1, 8, 9, 7}, "replace_if with a stencil");
    thrust::replace_copy(v.begin(), v.end(), copied.begin(), 7, 6);
    expect_equal(copied, {0, 1, 6, 9, 6}, "replace_copy");
    thrust::reverse(v.begin(), v.end());
    expect_equal(v, {7, 9, 7, 1, 0}, "reverse");
    const Ints map = ints({4, 0, 2});
    Ints picked(3), spread(5);
    thrust::gather(map.begin(), map.end(), v.begin(), picked.begin());
    expect_equal(picked, {0, 7, 7}, "gather");
    thrust::scatter(
        thrust::device, map.begin(), map.end(), map.begin(), spread.begin());
    expect_equal(spread, {0, 0, 2, 0, 4}, "scatter");
    thrust::for_each_n(thrust::device, v.begin(), 2, [] __device__(int& x) { ++x; });
    expect_equal(v, {8, 10, 7, 1, 0}, "for_each_n");
}

void test_reductions() {
    const Ints v = ints({3, 8, 5, 8, 1});
    check::expect(thrust::reduce(v.begin(), v.end(), 0, thrust::maximum<int>()) == 8,
                  "reduce by maximum");
    check::expect(thrust::count_if(v.begin(), v.end(), Even()) == 2, "count_if");
    check::expect(thrust::max_element(v.begin(), v.end()) - v.begin() == 1,
                  "max_element: the first of equals");
    const auto both = thrust::minmax_element(v.begin(), v.end());
    check::expect(both.first - v.begin() == 4, "minmax_element");
    check::expect(thrust::find(v.begin(), v.end(), 5) - v.begin() == 2, "find");
    check::expect(thrust::find(v.begin(), v.end(), 6) == v.end(), "find: absent");
    check::expect(thrust::any_of(v.begin(), v.end(), _1 > 7), "any_of");
    check::expect(!thrust::all_of(v.begin(), v.end(), _1 > 1), "all_of");
    check::expect(!thrust::is_sorted(v.begin(), v.end()), "is_sorted");
    // Adding 1 to 2^24 leaves a float as it is: only a sum in pairs gets this right.
    const thrust::device_vector<float> ones(20 << 20, 1.0f);
    check::expect(thrust::reduce(ones.begin(), ones.end()) == float(20 << 20),
                  "reduce does not lose small numbers");
}

void test_scans() {
    Ints v = ints({3, 1, 4, 1, 5});
    thrust::exclusive_scan(v.begin(), v.end(), v.begin(), 10);
    expect_equal(v, {10, 13, 14, 18, 19}, "exclusive_scan in place");
    v = ints({3, 1, 4, 1, 5});
    Ints out(5);
    thrust::inclusive_scan(v.begin(), v.end(), out.begin(), thrust::maximum<int>());
    expect_equal(out, {3, 3, 4, 4, 5}, "inclusive_scan by maximum");
    thrust::transform_inclusive_scan(
        v.begin(), v.end(), out.begin(), Square(), thrust::plus<int>());
    expect_equal(out, {9, 10, 26, 27, 52}, "transform_inclusive_scan");
    const Ints keys = ints({0, 0, 1, 1, 0});
    thrust::inclusive_scan_by_key(keys.begin(), keys.end(), v.begin(), out.begin());
    expect_equal(out, {3, 4, 4, 5, 5}, "inclusive_scan_by_key");
    thrust::exclusive_scan_by_key(keys.begin(), keys.end(), v.begin(), out.begin());
    expect_equal(out, {0, 3, 0, 4, 0}, "exclusive_scan_by_key");
    thrust::adjacent_difference(v.begin(), v.end(), out.begin());
    expect_equal(out, {3, -2, 3, -3, 4}, "adjacent_difference");
}

void test_selection() {
    const Ints v = ints({4, 7, 2, 9, 8});
    Ints out(5);
    auto end = thrust::copy_if(v.begin(), v.end(), out.begin(), Even());
    out.resize(end - out.begin());
    expect_equal(out, {4, 2, 8}, "copy_if");
    Ints parted = v;
    const auto middle = thrust::stable_partition(parted.begin(), parted.end(), Even());
    expect_equal(parted, {4, 2, 8, 7, 9}, "stable_partition");
    check::expect(middle - parted.begin() == 3, "stable_partition: its result");
    const Ints stencil = ints({1, 0, 1, 0, 1});
    Ints left = v;
    left.erase(thrust::remove_if(left.begin(), left.end(), stencil.begin(), _1 == 0),
               left.end());
    expect_equal(left, {4, 2, 8}, "remove_if with a stencil, erase");
    Ints keys = ints({1, 1, 2, 1, 1});
    Ints items = v;
    const auto ends = thrust::unique_by_key(keys.begin(), keys.end(), items.begin());
    keys.erase(ends.first, keys.end());
    items.erase(ends.second, items.end());
    expect_equal(keys, {1, 2, 1}, "unique_by_key: keys");
    expect_equal(items, {4, 2, 9}, "unique_by_key: values");
}

void test_order() {
    Ints v = ints({5, 3, 9, 3, 1});
    thrust::sort(v.begin(), v.end());
    expect_equal(v, {1, 3, 3, 5, 9}, "sort");
    check::expect(thrust::lower_bound(v.begin(), v.end(), 3) - v.begin() == 1,
                  "lower_bound");
    check::expect(thrust::binary_search(thrust::device, v.begin(), v.end(), 9),
                  "binary_search");
    const Ints other = ints({3, 4, 9});
    Ints merged(8);
    thrust::merge(v.begin(), v.end(), other.begin(), other.end(), merged.begin());
    expect_equal(merged, {1, 3, 3, 3, 4, 5, 9, 9}, "merge");
    const auto end = thrust::set_intersection(
        v.begin(), v.end(), other.begin(), other.end(), merged.begin());
    merged.erase(end, merged.end());
    expect_equal(merged, {3, 9}, "set_intersection");
    const Ints values = ints({10, 11, 12, 13, 14}), others = ints({20, 21, 22});
    Ints kept(8), of(8);
    const auto by_key = [&](auto ends,
                            std::initializer_list<int> expected_keys,
                            std::initializer_list<int> expected_values,
                            const char* what) {
        expect_equal(Ints(kept.begin(), ends.first), expected_keys, what);
        expect_equal(Ints(of.begin(), ends.second), expected_values, what);
    };
    by_key(thrust::set_union_by_key(v.begin(),
                                    v.end(),
                                    other.begin(),
                                    other.end(),
                                    values.begin(),
                                    others.begin(),
                                    kept.begin(),
                                    of.begin()),
           {1, 3, 3, 4, 5, 9},
           {10, 11, 12, 21, 13, 14},
           "set_union_by_key");
    by_key(thrust::set_intersection_by_key(thrust::device,
                                           v.begin(),
                                           v.end(),
                                           other.begin(),
                                           other.end(),
                                           values.begin(),
                                           kept.begin(),
                                           of.begin(),
                                           thrust::less<int>()),
           {3, 9},
           {11, 14},
           "set_intersection_by_key");
    by_key(thrust::set_difference_by_key(v.begin(),
                                         v.end(),
                                         other.begin(),
                                         other.end(),
                                         values.begin(),
                                         others.begin(),
                                         kept.begin(),
                                         of.begin()),
           {1, 3, 5},
           {10, 12, 13},
           "set_difference_by_key");
    by_key(thrust::set_symmetric_difference_by_key(v.begin(),
                                                   v.end(),
                                                   other.begin(),
                                                   other.end(),
                                                   values.begin(),
                                                   others.begin(),
                                                   kept.begin(),
                                                   of.begin()),
           {1, 3, 4, 5},
           {10, 12, 21, 13},
           "set_symmetric_difference_by_key");
    thrust::host_vector<float> keys(std::vector<float>{0.5f, 0.25f, 0.75f});
    thrust::host_vector<int> names(3);
    thrust::sequence(names.begin(), names.end());
    thrust::sort_by_key(
        keys.begin(), keys.end(), names.begin(), thrust::greater<float>());
    expect_equal(names, {2, 0, 1}, "sort_by_key on the host");
}

__global__ void double_all(int* values, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) values[i] *= 2;
}
__global__ void sort_one_row(int* values, int n) {
    thrust::sort(thrust::seq, values, values + n);
}

void test_policies() {
    int* raw = nullptr;
    check::need(cudaMalloc(&raw, 6 * sizeof(int)), "cudaMalloc");
    thrust::device_ptr<int> first(raw);
    thrust::sequence(first, first + 6, 6, -1);
    cudaStream_t stream;
    check::need(cudaStreamCreate(&stream), "cudaStreamCreate");
    double_all<<<1, 32, 0, stream>>>(raw, 6);
    check::expect(thrust::reduce(thrust::cuda::par.on(stream), first, first + 6) == 42,
                  "a policy with a stream");
    sort_one_row<<<1, 1>>>(raw, 6);
    check::need(cudaDeviceSynchronize(), "sort in a kernel");
    check::expect(thrust::is_sorted(thrust::device, raw, raw + 6), "sort in a kernel");
    cudaStreamDestroy(stream);
    cudaFree(raw);
}
}  // namespace

int main() {
    test_elementwise();
    test_reductions();
    test_scans();
    test_selection();
    test_order();
    test_policies();
    return check::report();
}
