// Copies into shared memory that are waited for later, and products of halves by tensor cores, a warp at a time. They need compute
// capability 8.0. Shapes and the places of elements in threads are those of `mma.m16n8k16` and `ldmatrix` in NVIDIA's PTX ISA.

#ifdef __CUDACC_RTC__

// What a launch asks for beside the kernel's own.
extern __shared__ __align__(16) unsigned char ng_shared[];

__device__ inline unsigned ng_shared_place(const void *at) { return (unsigned)__cvta_generic_to_shared(at); }

// Begins a copy of 16 or 4 bytes into shared memory; zeros where they are not inside.
template <int BYTES>
__device__ inline void ng_fetch(void *to, const void *from, bool inside) {
    const unsigned place = ng_shared_place(to), taken = inside ? BYTES : 0;
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(from), "r"(taken) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(place), "l"(from), "r"(taken) : "memory");
}

// Waits for all copies that this thread has begun; others see them behind a barrier.
__device__ inline void ng_fetched() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Four matrices of 8 x 8 halves. Threads 8 m to 8 m + 7 name the rows of matrix m.
__device__ inline void ng_load_matrices(unsigned (&x)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(ng_shared_place(row))
                 : "memory");
}
__device__ inline void ng_load_turned(unsigned (&x)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(ng_shared_place(row))
                 : "memory");
}

// `sums[16, 8] += x[16, 16] @ y[16, 8]`
#define NG_TENSOR_MULTIPLY(T, name)                                                                          \
    __device__ inline void ng_tensor_multiply(float (&sums)[4], const unsigned (&x)[4], unsigned y0, unsigned y1, T) {  \
        asm("mma.sync.aligned.m16n8k16.row.col.f32." name "." name ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, " \
            "{%0, %1, %2, %3};"                                                                              \
            : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                                     \
            : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y0), "r"(y1));                                 \
    }
NG_TENSOR_MULTIPLY(ng_f16, "f16")
NG_TENSOR_MULTIPLY(ng_bf16, "bf16")

// Two halves in a word, the first in its low bits.
__device__ inline unsigned ng_pair(float low, float high, ng_f16) {
    unsigned res;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(res) : "f"(high), "f"(low));
    return res;
}
__device__ inline unsigned ng_pair(float low, float high, ng_bf16) {
    unsigned res;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(res) : "f"(high), "f"(low));
    return res;
}

// 2^x by the chip's own function, of which results below 2^-126 are 0.
__device__ inline float ng_power_of_two(float x) {
    float res;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(res) : "f"(x));
    return res;
}

#else

template <int BYTES>
void ng_fetch(void *to, const void *from, bool inside) {
    if (inside) memcpy(to, from, BYTES);
    else memset(to, 0, BYTES);
}
void ng_fetched() {}
void ng_load_matrices(unsigned (&x)[4], const void *row) { ng_warp_load(x, row, false); }
void ng_load_turned(unsigned (&x)[4], const void *row) { ng_warp_load(x, row, true); }
template <class H>
float ng_wide_bits(unsigned bits) {
    return ng_wide(H{(unsigned short)bits});
}
template <class H>
void ng_tensor_multiply(float (&sums)[4], const unsigned (&x)[4], unsigned y0, unsigned y1, H) {
    ng_warp_multiply(sums, x, y0, y1, ng_wide_bits<H>);
}
template <class H>
unsigned ng_pair(float low, float high, H) {
    H both[2];
    ng_put(both[0], low), ng_put(both[1], high);
    return (unsigned)both[0].bits | (unsigned)both[1].bits << 16;
}
float ng_power_of_two(float x) { return exp2f(x); }

#endif
