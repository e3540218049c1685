// Wrong arguments of Thrust and CUB.
#include <thrust/device_vector.h>
#include <thrust/transform.h>
#include <cub/cub.cuh>

struct Two {
    __host__ __device__ int operator()(int a, int b) const { return a + b; }
};

int main() {
    thrust::device_vector<int> v(3);
    // says: no match for call to '(Two) (int)'
    thrust::transform(v.begin(), v.end(), v.begin(), Two());
    // says: no instance of function "transform" matches the argument types (thrust::dev
    thrust::transform(v.begin(), v.end(), Two());
    // says: no instance of function "cub::DeviceReduce::Sum" matches the argument types
    cub::DeviceReduce::Sum(0, 3);
    // says: cub::DeviceRows is not in the simulator; guard it with #ifndef SIMT_CPU
    cub::DeviceRows::Sum(0, 3);
    // says: thrust::host_system_tags is not in the simulator; did you mean host_system_t
    typedef thrust::host_system_tags Tag;
    cub::RowId();  // says: cub::RowId is not in the simulator; guard it with #ifndef
    // says: thrust::transfrom is not in the simulator; did you mean transform? Else gua
    thrust::transfrom(v.begin(), v.end(), v.begin(), Two());
    cub::WarpScan<int>::TempStorage storage;
    // says: cub::WarpScan<int>::InclusiveSums is not in the simulator; did you mean Incl
    cub::WarpScan<int>(storage).InclusiveSums(3);
}
