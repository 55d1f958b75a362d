// What CUDA C offers, on one thread of the processor; and how tests call kernels: elements come from one file and go to another.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define __device__
#define __global__

struct Dim {
    unsigned x;
};

static const Dim blockIdx = {0}, threadIdx = {0}, blockDim = {1}, gridDim = {1};

template <class To, class From>
static To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "types of one size");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

static inline float __int_as_float(int x) { return same_bits<float>(x); }
static inline int __float_as_int(float x) { return same_bits<int>(x); }
static inline double __longlong_as_double(long long x) { return same_bits<double>(x); }
static inline long long __double_as_longlong(double x) { return same_bits<long long>(x); }
static inline void atomicOr(unsigned *word, unsigned bits) { *word |= bits; }

static FILE *given, *results;

template <class T>
static T *room(long long n) {
    return static_cast<T *>(calloc(n, sizeof(T)));
}

template <class T>
static T *input(long long n) {
    T *elements = room<T>(n);
    if (fread(elements, sizeof(T), n, given) != static_cast<size_t>(n)) abort();
    return elements;
}

template <class T>
static void output(T *elements, long long n) {
    fwrite(elements, sizeof(T), n, results);
}
