/* Stand-in for CUDA's runtime: the exported kernels as C++ of this processor, one thread after the other. No GPU is meant. */
#ifndef STAND_IN_CUDA_RUNTIME_H
#define STAND_IN_CUDA_RUNTIME_H

#include <cstdlib>
#include <cstring>

#define __device__
#define __global__
#define __constant__

enum cudaError_t { cudaSuccess = 0, cudaErrorMemoryAllocation = 2 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
struct stand_in_index {
    unsigned x;
};
static stand_in_index blockIdx = {0}, blockDim = {128}, threadIdx = {0};

static inline cudaError_t cudaMalloc(void **place, size_t bytes)
{
    *place = std::malloc(bytes);
    return (*place != nullptr) ? cudaSuccess : cudaErrorMemoryAllocation;
}
static inline cudaError_t cudaFree(void *place)
{
    std::free(place);
    return cudaSuccess;
}
static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    std::memcpy(to, from, bytes);
    return cudaSuccess;
}
static inline cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}
static inline const char *cudaGetErrorString(cudaError_t error)
{
    return (error == cudaSuccess) ? "no error" : "out of memory";
}

/* More blocks than needed: the kernels must leave what is beyond n alone. */
#define LAUNCH(kernel, n, ...) \
    for (blockIdx.x = 0; blockIdx.x <= (n) / blockDim.x + 1; ++blockIdx.x) { \
        for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) { \
            kernel(n, __VA_ARGS__); \
        } \
    }

#endif /* STAND_IN_CUDA_RUNTIME_H */
