// What all threads of a line have, combined; each gets it. WIDTH threads of a block of 256 have a line.

#define LINES (256 / WIDTH)

template <int N>
__device__ inline void ng_sums(C (&x)[N], C *shared) {
#pragma unroll
    for (int by = 16; by > 0; by /= 2)
#pragma unroll
        for (int i = 0; i < N; i++) x[i] += __shfl_xor_sync(0xffffffffu, x[i], by);
    if (WIDTH == 32) return;
    if (threadIdx.x % 32 == 0)
        for (int i = 0; i < N; i++) shared[i * 8 + threadIdx.x / 32] = x[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N; i++) {
        x[i] = shared[i * 8];
        for (int warp = 1; warp < WIDTH / 32; warp++) x[i] += shared[i * 8 + warp];
    }
    __syncthreads();
}

__device__ inline C ng_sum(C x, C *shared) {
    C all[1] = {x};
    ng_sums(all, shared);
    return all[0];
}

// NaN is left out.
__device__ inline float ng_larger(float a, float b) { return fmaxf(a, b); }
__device__ inline double ng_larger(double a, double b) { return fmax(a, b); }

__device__ inline C ng_largest(C x, C *shared) {
    for (int by = 16; by > 0; by /= 2) x = ng_larger(x, __shfl_xor_sync(0xffffffffu, x, by));
    if (WIDTH == 32) return x;
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
    __syncthreads();
    x = shared[0];
    for (int warp = 1; warp < WIDTH / 32; warp++) x = ng_larger(x, shared[warp]);
    __syncthreads();
    return x;
}
