/* The part of <math.h> that emitted C uses, for WebAssembly without a C library: instructions, or functions of the page. */
#ifndef ELASTOGEN_WASM_MATH_H
#define ELASTOGEN_WASM_MATH_H
#define HUGE_VAL (__builtin_inf())
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define isfinite(x) __builtin_isfinite(x)
#define isnan(x) __builtin_isnan(x)
#define fabs(x) __builtin_fabs(x)
#define sqrt(x) __builtin_sqrt(x)
#define ceil(x) __builtin_ceil(x)
#define floor(x) __builtin_floor(x)
#define fmin(x, y) __builtin_fmin((x), (y))
#define fmax(x, y) __builtin_fmax((x), (y))
#define FROM_PAGE(symbol) __attribute__((import_module("math"), import_name(#symbol)))
FROM_PAGE(pow) double pow(double x, double y);
FROM_PAGE(atan2) double atan2(double y, double x);
FROM_PAGE(sin) double sin(double x);
FROM_PAGE(cos) double cos(double x);
FROM_PAGE(tan) double tan(double x);
FROM_PAGE(asin) double asin(double x);
FROM_PAGE(acos) double acos(double x);
FROM_PAGE(atan) double atan(double x);
FROM_PAGE(sinh) double sinh(double x);
FROM_PAGE(cosh) double cosh(double x);
FROM_PAGE(tanh) double tanh(double x);
FROM_PAGE(asinh) double asinh(double x);
FROM_PAGE(acosh) double acosh(double x);
FROM_PAGE(atanh) double atanh(double x);
FROM_PAGE(erf) double erf(double x);
FROM_PAGE(exp) double exp(double x);
FROM_PAGE(log) double log(double x);
#endif
