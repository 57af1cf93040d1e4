/* An array of a kernel on the host; exactly one of the two places is not null. */
typedef struct {
    const void *given;
    void *result;
    size_t bytes;
} host_array;

static void give_back(void **places, int count)
{
    for (int i = 0; i < count; ++i) {
        (void)cudaFree(places[i]);
    }
}

/* Places on the device for arrays, with what is given copied there; on an error nothing is left there. */
static cudaError_t copied_there(const host_array *arrays, int count, void **places)
{
    cudaError_t error = cudaSuccess;
    int made = 0;
    while ((error == cudaSuccess) && (made < count)) {
        error = cudaMalloc(&places[made], arrays[made].bytes);
        if (error == cudaSuccess) {
            ++made;
            if (arrays[made - 1].given != NULL) {
                error = cudaMemcpy(places[made - 1], arrays[made - 1].given, arrays[made - 1].bytes, cudaMemcpyHostToDevice);
            }
        }
    }
    if (error != cudaSuccess) {
        give_back(places, made);
    }
    return error;
}

static cudaError_t copied_back(const host_array *arrays, int count, void **places)
{
    cudaError_t error = cudaGetLastError(); /* of the launch */
    for (int i = 0; (error == cudaSuccess) && (i < count); ++i) {
        if (arrays[i].result != NULL) {
            error = cudaMemcpy(arrays[i].result, places[i], arrays[i].bytes, cudaMemcpyDeviceToHost);
        }
    }
    give_back(places, count);
    return error;
}
