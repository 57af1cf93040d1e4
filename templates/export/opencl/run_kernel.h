/* An array of a kernel on the host; exactly one of the two places is not null. */
typedef struct {
    const void *given;
    void *result;
    size_t bytes;
} host_array;

/* Copies arrays to the device, runs a kernel on n states and copies its results back. */
static cl_int run_kernel(const {{ identity.name }}_opencl_t *o, const char *name, size_t n, const host_array *arrays, cl_uint count)
{
    cl_mem buffers[MOST_ARRAYS];
    const cl_ulong states = (cl_ulong)n;
    cl_uint made = 0;
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(o->program, name, &error);
    if (error == CL_SUCCESS) {
        error = clSetKernelArg(kernel, 0, sizeof states, &states);
    }
    while ((error == CL_SUCCESS) && (made < count)) {
        const host_array *a = &arrays[made];
        buffers[made] = clCreateBuffer(o->context, (a->given != NULL) ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY, a->bytes, NULL, &error);
        if (error == CL_SUCCESS) {
            ++made;
            error = clSetKernelArg(kernel, made, sizeof(cl_mem), &buffers[made - 1]);
        }
        if ((error == CL_SUCCESS) && (a->given != NULL)) {
            error = clEnqueueWriteBuffer(o->queue, buffers[made - 1], CL_TRUE, 0, a->bytes, a->given, 0, NULL, NULL);
        }
    }
    if (error == CL_SUCCESS) {
        error = clEnqueueNDRangeKernel(o->queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL);
    }
    for (cl_uint i = 0; (error == CL_SUCCESS) && (i < count); ++i) {
        if (arrays[i].result != NULL) {
            error = clEnqueueReadBuffer(o->queue, buffers[i], CL_TRUE, 0, arrays[i].bytes, arrays[i].result, 0, NULL, NULL);
        }
    }
    for (cl_uint i = 0; i < made; ++i) {
        (void)clReleaseMemObject(buffers[i]);
    }
    if (kernel != NULL) {
        (void)clReleaseKernel(kernel);
    }
    return error;
}
