/* A call from XLA into a batch function of a model (eg_batch_<name> of its extension module).

   Operands: rows, one state in each, and the live parameters of all of them. Results: one buffer for each output.
   Attributes: "address" of the function; "inputs", where each input starts in a row; "parameters", where the live parameters
   start in a row, or -1 where they are the second operand; "process", a number of this process, so that a compiled program
   that JAX keeps on disk is not taken by another process, whose addresses differ. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "xla/ffi/api/c_api.h"

#define MOST_INPUTS 6
#define MOST_OUTPUTS 2

typedef struct {
    const void *params;
    size_t params_stride;
    const void *in[MOST_INPUTS];
    size_t stride; /* of all inputs: the length of a row */
    void *out[MOST_OUTPUTS];
} batch_t;

/* Pointers to real numbers of either precision are passed as pointers to void: the same on every system XLA runs on. */
#define P const void *, size_t
#define I(k) b->in[k], b->stride
#define CALL(types, values) \
    (outputs == 1 ? ((int64_t(*)(P, size_t, types, void *))address)(b->params, b->params_stride, n, values, b->out[0]) \
                  : ((int64_t(*)(P, size_t, types, void *, void *))address)(b->params, b->params_stride, n, values, b->out[0], \
                                                                            b->out[1]))
#define TYPES2 P, P
#define TYPES3 P, P, P
#define TYPES4 P, P, P, P
#define TYPES5 P, P, P, P, P
#define TYPES6 P, P, P, P, P, P
#define VALUES1 I(0)
#define VALUES2 VALUES1, I(1)
#define VALUES3 VALUES2, I(2)
#define VALUES4 VALUES3, I(3)
#define VALUES5 VALUES4, I(4)
#define VALUES6 VALUES5, I(5)

static int64_t run(intptr_t address, int64_t inputs, int64_t outputs, size_t n, const batch_t *b)
{
    switch (inputs) {
    case 1: return CALL(P, VALUES1);
    case 2: return CALL(TYPES2, VALUES2);
    case 3: return CALL(TYPES3, VALUES3);
    case 4: return CALL(TYPES4, VALUES4);
    case 5: return CALL(TYPES5, VALUES5);
    default: return CALL(TYPES6, VALUES6);
    }
}

static const void *attribute(const XLA_FFI_Attrs *attrs, XLA_FFI_AttrType type, const char *name)
{
    for (int64_t k = 0; k < attrs->size; ++k) {
        const XLA_FFI_ByteSpan *const found = attrs->names[k];
        if (attrs->types[k] == type && found->len == strlen(name) && memcmp(found->ptr, name, found->len) == 0) {
            return attrs->attrs[k];
        }
    }
    return NULL;
}

static XLA_FFI_Error *refuse(const XLA_FFI_Api *api, const char *message)
{
    XLA_FFI_Error_Create_Args args = {XLA_FFI_Error_Create_Args_STRUCT_SIZE, NULL, message, XLA_FFI_Error_Code_INVALID_ARGUMENT};
    return api->XLA_FFI_Error_Create(&args);
}

static void fill(const XLA_FFI_Buffer *buffer, char *start, size_t count)
{
    for (size_t k = 0; k < count; ++k) {
        if (buffer->dtype == XLA_FFI_DataType_F32) {
            ((float *)(void *)start)[k] = NAN;
        } else {
            ((double *)(void *)start)[k] = (double)NAN;
        }
    }
}

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
XLA_FFI_Error *elastogen_xla_batch(XLA_FFI_CallFrame *frame);

XLA_FFI_Error *elastogen_xla_batch(XLA_FFI_CallFrame *frame)
{
    if (frame->extension_start != NULL && frame->extension_start->type == XLA_FFI_Extension_Metadata) {
        XLA_FFI_Metadata *const metadata = ((XLA_FFI_Metadata_Extension *)(void *)frame->extension_start)->metadata;
        metadata->api_version.major_version = XLA_FFI_API_MAJOR;
        metadata->api_version.minor_version = XLA_FFI_API_MINOR;
        return NULL;
    }
    const XLA_FFI_Scalar *const address = attribute(&frame->attrs, XLA_FFI_AttrType_SCALAR, "address");
    const XLA_FFI_Scalar *const parameters = attribute(&frame->attrs, XLA_FFI_AttrType_SCALAR, "parameters");
    const XLA_FFI_Array *const starts = attribute(&frame->attrs, XLA_FFI_AttrType_ARRAY, "inputs");
    const int64_t outputs = frame->rets.size;
    if (address == NULL || parameters == NULL || starts == NULL || address->dtype != XLA_FFI_DataType_S64 ||
        parameters->dtype != XLA_FFI_DataType_S64 || starts->dtype != XLA_FFI_DataType_S64 || starts->size < 1 ||
        starts->size > MOST_INPUTS || outputs < 1 || outputs > MOST_OUTPUTS || frame->args.size != 2) {
        return refuse(frame->api, "elastogen: a call with other operands or attributes than to_jax makes");
    }
    const XLA_FFI_Buffer *const rows = frame->args.args[0];
    const XLA_FFI_Buffer *const live = frame->args.args[1];
    const size_t real = rows->dtype == XLA_FFI_DataType_F32 ? sizeof(float) : sizeof(double);
    const size_t length = (size_t)rows->dims[rows->rank - 1];
    const char *const first = rows->data;
    const int64_t params_at = *(const int64_t *)parameters->value;
    const intptr_t function = (intptr_t)*(const int64_t *)address->value;
    size_t n = 1;
    size_t sizes[MOST_OUTPUTS];
    batch_t b;
    for (int64_t k = 0; k + 1 < rows->rank; ++k) {
        n *= (size_t)rows->dims[k];
    }
    if (n == 0) {
        return NULL;
    }
    b.params = params_at < 0 ? live->data : first + (size_t)params_at * real;
    b.params_stride = params_at < 0 ? 0 : length;
    b.stride = length;
    for (size_t k = 0; k < starts->size; ++k) {
        b.in[k] = first + (size_t)((const int64_t *)starts->data)[k] * real;
    }
    for (int64_t k = 0; k < outputs; ++k) {
        const XLA_FFI_Buffer *const out = frame->rets.rets[k];
        size_t all = 1;
        for (int64_t axis = 0; axis < out->rank; ++axis) {
            all *= (size_t)out->dims[axis];
        }
        sizes[k] = all / n;
        b.out[k] = out->data;
    }
    if (run(function, (int64_t)starts->size, outputs, n, &b) == 0) {
        return NULL;
    }
    /* Some mass matrix is not positive definite: each state is tried alone, and the results of those that fail are NaN. */
    for (size_t item = 0; item < n; ++item) {
        if (run(function, (int64_t)starts->size, outputs, 1, &b) != 0) {
            for (int64_t k = 0; k < outputs; ++k) {
                fill(frame->rets.rets[k], b.out[k], sizes[k]);
            }
        }
        b.params = (const char *)b.params + b.params_stride * real;
        for (size_t k = 0; k < starts->size; ++k) {
            b.in[k] = (const char *)b.in[k] + length * real;
        }
        for (int64_t k = 0; k < outputs; ++k) {
            b.out[k] = (char *)b.out[k] + sizes[k] * real;
        }
    }
    return NULL;
}
