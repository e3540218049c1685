// thrust's vectors, iterators, placeholders, tuples, random numbers.
#include <thrust/complex.h>
#include <thrust/copy.h>
#include <thrust/detail/raw_reference_cast.h>
#include <thrust/detail/type_traits.h>
#include <thrust/device_malloc.h>
#include <thrust/device_vector.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/generate.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_input_output_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/pair.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>

#include <list>

#include "thrust_check.h"

static_assert(sizeof(std::cout) > 0, "thrust brings <iostream>, as NVIDIA's does");

namespace {
using namespace thrust::placeholders;

void test_vectors() {
    thrust::host_vector<int> h(4);
    h[0] = 14;
    h[1] = 20;
    thrust::device_vector<int> d = h;
    expect_equal(d, {14, 20, 0, 0}, "elements are 0 at first");
    d[0] = 99;
    d.push_back(5);
    d.insert(d.begin() + 1, 7);
    d.erase(d.begin() + 3);
    expect_equal(d, {99, 7, 20, 0, 5}, "push_back, insert, erase");
    check::expect(h[0] == 14, "vectors are copies");
    const int* before = thrust::raw_pointer_cast(d.data());
    d = thrust::host_vector<int>(3, 8);
    expect_equal(d, {8, 8, 8}, "assignment from a host_vector");
    check::expect(thrust::raw_pointer_cast(&d[0]) == before,
                  "assignment keeps memory that is large enough");
    const std::list<int> list{3, 1, 2};
    const thrust::device_vector<float> from_list(list.begin(), list.end());
    expect_equal(from_list, {3, 1, 2}, "from a list, converted");
    std::vector<int> standard(3);
    thrust::copy(d.begin(), d.end(), standard.begin());
    check::expect(standard == std::vector<int>{8, 8, 8}, "copy to a std::vector");
    thrust::device_vector<int> other(2, 1);
    d.swap(other);
    expect_equal(d, {1, 1}, "swap");
    cudaPointerAttributes where;
    check::need(cudaPointerGetAttributes(&where, thrust::raw_pointer_cast(d.data())),
                "cudaPointerGetAttributes");
    check::expect(where.type == cudaMemoryTypeDevice, "lives in device memory");
    const auto raw = thrust::device_malloc<double>(10);
    thrust::fill(raw, raw + 10, 2.5);
    check::expect(thrust::reduce(raw, raw + 10) == 25.0, "device_malloc");
    thrust::device_free(raw);
}

struct Norm {
    __host__ __device__ int operator()(const thrust::tuple<int, int>& t) const {
        return thrust::get<0>(t) * thrust::get<0>(t) + thrust::get<1>(t);
    }
};
/// As old programs write it: operator() is not const.
struct Twice {
    __host__ __device__ int operator()(int x) { return 2 * x; }
};
struct AddInto {
    template <class Tuple>
    __host__ __device__ void operator()(Tuple t) const {
        thrust::get<2>(t) = thrust::get<0>(t) + 10 * thrust::get<1>(t);
    }
};

void test_iterators() {
    thrust::device_vector<int> a(3), b(3, 2), c(3);
    thrust::sequence(a.begin(), a.end(), 1);
    const auto first =
        thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin(), c.begin()));
    thrust::for_each(first, first + 3, AddInto());
    expect_equal(c, {21, 22, 23}, "for_each over a zip_iterator writes");
    const auto pairs =
        thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin()));
    check::expect(thrust::transform_reduce(
                      pairs, pairs + 3, Norm(), 0, thrust::plus<int>()) == 20,
                  "transform_reduce over a zip_iterator");
    thrust::sort(pairs, pairs + 3, thrust::greater<thrust::tuple<int, int>>());
    expect_equal(a, {3, 2, 1}, "sort of a zip_iterator");
    const thrust::counting_iterator<int> count(0);
    check::expect(thrust::reduce(count, count + 101) == 5050, "counting_iterator");
    const auto squares = thrust::make_transform_iterator(count, _1 * _1);
    check::expect(thrust::reduce(squares, squares + 5, 0) == 30, "transform_iterator");
    const auto doubled = thrust::make_transform_iterator(count, Twice());
    check::expect(thrust::reduce(doubled, doubled + 5) == 20, "a functor not const");
    const thrust::device_vector<int> map(std::vector<int>{2, 0});
    const auto chosen = thrust::make_permutation_iterator(c.begin(), map.begin());
    check::expect(chosen[0] == 23 && thrust::reduce(chosen, chosen + 2) == 44,
                  "permutation_iterator");
    thrust::device_vector<int> sums(3);
    const auto ends = thrust::reduce_by_key(b.begin(),
                                            b.end(),
                                            thrust::make_constant_iterator(1),
                                            thrust::make_discard_iterator(),
                                            sums.begin());
    check::expect(ends.second - sums.begin() == 1 && sums[0] == 3, "discard_iterator");
}

void test_functions() {
    thrust::device_vector<float> x(3, 2.0f), y(3, 1.0f);
    thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), 3.0f * _1 - _2 / 2.0f);
    check::expect(y[2] == 5.5f, "arithmetic of placeholders");
    check::expect(thrust::inner_product(x.begin(),
                                        x.end(),
                                        x.begin(),
                                        0,
                                        thrust::plus<int>(),
                                        thrust::equal_to<float>()) == 3,
                  "inner_product with functions");
    const thrust::pair<int, float> pair = thrust::make_pair(1, 2.0f);
    int one;
    float two;
    thrust::tie(one, two) = thrust::make_tuple(pair.first, pair.second);
    check::expect(one == 1 && two == 2.0f, "pair, tuple, tie");
    const thrust::complex<float> z(3, 4);
    check::expect(thrust::abs(z) == 5.0f && (z * thrust::conj(z)).real() == 25.0f,
                  "complex");
}

struct Draw {
    __host__ __device__ float operator()(unsigned int n) const {
        thrust::default_random_engine engine;
        engine.discard(n);
        return thrust::uniform_real_distribution<float>(2.0f, 4.0f)(engine);
    }
};

struct HalfOf {
    __host__ __device__ int operator()(int x) const { return x / 2; }
};
struct TwiceOf {
    __host__ __device__ int operator()(int x) const { return 2 * x; }
};

/// 1 on the device, 0 on the host, plus the argument.
struct Side {
    __host__ __device__ int operator()(int x) const {
#ifdef __CUDA_ARCH__
        return x + 1;
#else
        return x;
#endif
    }
};

void test_arguments_of_iterators() {
    using thrust::use_default;
    const thrust::counting_iterator<int, thrust::device_system_tag> on_device(3);
    const thrust::counting_iterator<int, thrust::host_system_tag> on_host(3);
    thrust::host_vector<int> out(2);
    check::expect(thrust::transform_reduce(
                      on_device, on_device + 2, Side(), 0, thrust::plus<int>()) == 9,
                  "counting_iterator of the device");
    check::expect(thrust::transform_reduce(
                      on_host, on_host + 2, Side(), 0, thrust::plus<int>()) == 7,
                  "counting_iterator of the host");
    const thrust::constant_iterator<int, use_default, thrust::host_system_tag> five(5);
    check::expect(five[7] == 5 && (five + 2) - five == 2, "constant_iterator");
    const thrust::transform_iterator<HalfOf, const int*, float> halves(
        thrust::raw_pointer_cast(out.data()), HalfOf());
    out[1] = 7;
    check::expect(std::is_same_v<decltype(halves[1]), float> && halves[1] == 3.0f,
                  "transform_iterator with a type of its results");
    thrust::device_vector<int> v(3);
    thrust::sequence(v.begin(), v.end(), 1);
    const auto it =
        thrust::make_transform_input_output_iterator(v.begin(), TwiceOf(), HalfOf());
    thrust::transform(
        it, it + 3, thrust::constant_iterator<int>(4), it + 0, thrust::plus<int>());
    expect_equal(v, {3, 4, 5}, "transform_input_output_iterator: (2 x + 4) / 2");
}

void test_random() {
    thrust::default_random_engine engine;
    for (int i = 1; i < 10000; ++i)
        (void)engine();
    check::expect(engine() == 399268537u, "minstd_rand: its 10000th number");
    thrust::minstd_rand jumped;
    jumped.discard(9999);
    check::expect(jumped() == 399268537u, "discard");
    const thrust::counting_iterator<unsigned int> count(0);
    thrust::device_vector<float> x(1000);
    thrust::transform(count, count + 1000, x.begin(), Draw());
    const float mean = thrust::reduce(x.begin(), x.end()) / 1000;
    check::expect(mean > 2.8f && mean < 3.2f, "uniform_real_distribution");
    thrust::uniform_int_distribution<int> die(1, 6);
    thrust::host_vector<int> rolls(600);
    thrust::generate(rolls.begin(), rolls.end(), [&] { return die(engine); });
    const int sum = thrust::reduce(rolls.begin(), rolls.end());
    check::expect(sum > 1900 && sum < 2300, "uniform_int_distribution");
}
}  // namespace

int main() {
    test_vectors();
    test_iterators();
    test_functions();
    test_arguments_of_iterators();
    test_random();
    return check::report();
}
