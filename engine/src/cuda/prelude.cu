// What the kernels of all ops are written with. No header is needed: NVRTC has none of its own.

typedef signed char ng_i8;
typedef unsigned char ng_u8;
typedef short ng_i16;
typedef unsigned short ng_u16;
typedef int ng_i32;
typedef long long ng_i64;

// Elements that are only moved.
typedef unsigned char ng_b1;
typedef unsigned short ng_b2;
typedef unsigned int ng_b4;
typedef unsigned long long ng_b8;
struct ng_b16 {
    unsigned long long low, high;
};

struct ng_bool {
    unsigned char value;
};
struct ng_f16 {
    unsigned short bits;
};
struct ng_bf16 {
    unsigned short bits;
};

// What each kernel begins with (`Source::begun`): the next one may be brought to the multiprocessors meanwhile, and nothing is read or
// written before the ones before are done.
__device__ inline void ng_await() {
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#define NG_RANK 12

#define NG_INFINITY __int_as_float(0x7f800000)
#define NG_NAN __int_as_float(0x7fc00000)

__device__ inline float ng_wide(ng_f16 x) {
#ifdef __CUDACC_RTC__
    float res;
    asm("cvt.f32.f16 %0, %1;" : "=f"(res) : "h"(x.bits));
    return res;
#else
    return ng_half_to_float(x.bits);
#endif
}

__device__ inline float ng_wide(ng_bf16 x) { return __int_as_float((int)x.bits << 16); }

__device__ inline unsigned short ng_half(float x) {
#ifdef __CUDACC_RTC__
    unsigned short res;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(res) : "f"(x));
    return res;
#else
    return ng_float_to_half(x);
#endif
}

// Halves as bits of whole numbers.
__device__ inline float ng_from_half(int bits) { return ng_wide(ng_f16{(unsigned short)bits}); }
__device__ inline int ng_to_half(float x) { return ng_half(x); }

// Elements as lane programs see them: halves are bits.
template <class E>
__device__ inline E ng_bits(E x) {
    return x;
}
__device__ inline unsigned short ng_bits(ng_f16 x) { return x.bits; }
__device__ inline unsigned short ng_bits(ng_bf16 x) { return x.bits; }
template <class E, class B>
__device__ inline void ng_set_bits(E &to, B bits) {
    to = bits;
}
__device__ inline void ng_set_bits(ng_f16 &to, unsigned short bits) { to.bits = bits; }
__device__ inline void ng_set_bits(ng_bf16 &to, unsigned short bits) { to.bits = bits; }

// To the nearest, of two the even one.
__device__ inline unsigned short ng_brain(float x) {
    const unsigned bits = (unsigned)__float_as_int(x);
    if (x != x) return 0x7fc0;
    return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

// An element as a number.
template <class C, class T>
__device__ inline C ng_get(T x) {
    return (C)x;
}
template <class C>
__device__ inline C ng_get(ng_bool x) {
    return (C)(x.value != 0);
}
template <class C>
__device__ inline C ng_get(ng_f16 x) {
    return (C)ng_wide(x);
}
template <class C>
__device__ inline C ng_get(ng_bf16 x) {
    return (C)ng_wide(x);
}

// A number as an element.
template <class C, class T>
__device__ inline void ng_put(T &to, C x) {
    to = (T)x;
}
template <class C>
__device__ inline void ng_put(ng_bool &to, C x) {
    to.value = x != 0;
}
template <class C>
__device__ inline void ng_put(ng_f16 &to, C x) {
    to.bits = ng_half((float)x);
}
template <class C>
__device__ inline void ng_put(ng_bf16 &to, C x) {
    to.bits = ng_brain((float)x);
}

// Functions of numbers of any type.
#define NG_FUNCTION(name)                                                                       \
    __device__ inline float ng_##name(float x) { return name##f(x); }                           \
    __device__ inline double ng_##name(double x) { return name(x); }                            \
    __device__ inline int ng_##name(int x) { return (int)name((double)x); }                     \
    __device__ inline ng_i64 ng_##name(ng_i64 x) { return (ng_i64)name((double)x); }
NG_FUNCTION(exp)
NG_FUNCTION(log)
NG_FUNCTION(sqrt)
NG_FUNCTION(fabs)
__device__ inline float ng_pow(float x, double y) { return powf(x, (float)y); }
__device__ inline double ng_pow(double x, double y) { return pow(x, y); }
__device__ inline int ng_pow(int x, double y) { return (int)pow((double)x, y); }
__device__ inline ng_i64 ng_pow(ng_i64 x, double y) { return (ng_i64)pow((double)x, y); }

// Whether an element is not 0; NaN is.
template <class T>
__device__ inline bool ng_is_true(T x) {
    return x != 0;
}
__device__ inline bool ng_is_true(ng_bool x) { return x.value != 0; }
__device__ inline bool ng_is_true(ng_f16 x) { return (x.bits & 0x7fff) != 0; }
__device__ inline bool ng_is_true(ng_bf16 x) { return (x.bits & 0x7fff) != 0; }

// Some elements of one operand, by dimensions.
struct ng_dims {
    int rank;
    int narrow;
    ng_i64 sizes[NG_RANK];
    ng_i64 strides[NG_RANK];
};

// Where element `at` in row-major order lies.
__device__ inline ng_i64 ng_offset(const ng_dims &dims, ng_i64 at) {
    ng_i64 res = 0;
    if (dims.narrow) {
        unsigned rest = (unsigned)at;
        for (int dim = dims.rank - 1; dim > 0; dim--) {
            const unsigned size = (unsigned)dims.sizes[dim], next = rest / size;
            res += (ng_i64)(rest - next * size) * dims.strides[dim];
            rest = next;
        }
        return dims.rank ? res + (ng_i64)rest * dims.strides[0] : 0;
    }
    for (int dim = dims.rank - 1; dim > 0; dim--) {
        const ng_i64 size = dims.sizes[dim], next = at / size;
        res += (at - next * size) * dims.strides[dim];
        at = next;
    }
    return dims.rank ? res + at * dims.strides[0] : 0;
}

// What kernels tell the host when they meet an element that the op refuses: how, and the element.
struct ng_fault {
    unsigned kind;
    unsigned set;
    ng_i64 number;
};

__device__ inline void ng_refuse(ng_fault *fault, unsigned kind, ng_i64 number) {
    if (atomicExch(&fault->set, 1u) == 0u) fault->number = number;
    atomicOr(&fault->kind, kind);
}

// Elements that are loaded and stored together.
template <class T, int N>
struct alignas(sizeof(T) * N) ng_pack {
    T all[N];
};

// Elements of a grid, one for each thread, then those that are left.
#define NG_EACH(at, n)                                                                    \
    for (ng_i64 at = (ng_i64)blockIdx.x * blockDim.x + threadIdx.x; at < (n); \
         at += (ng_i64)gridDim.x * blockDim.x)
