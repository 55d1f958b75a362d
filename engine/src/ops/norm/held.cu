// As `lines.cu`, for lines that lie in a row and that their threads hold: each element is loaded once. Names: T and O0 elements, C the type that
// is computed in, WIDTH threads of a line (32 or 256), PACK elements that are loaded together, PACKS of them for a thread.

#define LINES (256 / WIDTH)

__device__ inline C ng_larger(C a, C b) { return a != a || a > b ? a : b; }
__device__ inline C ng_added(C a, C b) { return a + b; }

// What all threads of a line have, combined; each gets it.
#define NG_ALL(name, combine)                                                          \
    __device__ inline C name(C x, C *shared) {                                         \
        for (int by = 16; by > 0; by /= 2) x = combine(x, __shfl_xor_sync(0xffffffffu, x, by)); \
        if (WIDTH == 32) return x;                                                     \
        if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;                       \
        __syncthreads();                                                               \
        x = shared[0];                                                                 \
        for (int warp = 1; warp < WIDTH / 32; warp++) x = combine(x, shared[warp]);    \
        __syncthreads();                                                               \
        return x;                                                                      \
    }
NG_ALL(ng_largest_of_all, ng_larger)
NG_ALL(ng_sum_of_all, ng_added)

extern "C" __global__ void held(ng_i64 outer, ng_i64 n, const T *in, const ng_dims kept, O0 *out, const ng_dims out_kept,
                                O0 *note0, O0 *note1, double number) {
    __shared__ C shared[8];
    const int lane = threadIdx.x % WIDTH;
    for (ng_i64 at = (ng_i64)blockIdx.x * LINES + threadIdx.x / WIDTH; at < outer; at += (ng_i64)gridDim.x * LINES) {
        const ng_pack<T, PACK> *from = (const ng_pack<T, PACK> *)(in + ng_offset(kept, at));
        C x[PACKS * PACK];
        C most = -(C)NG_INFINITY, sum = 0;
#pragma unroll
        for (int j = 0; j < PACKS; j++) {
            const int first = (j * WIDTH + lane) * PACK;
            if (first >= n) continue;
            const ng_pack<T, PACK> loaded = from[j * WIDTH + lane];
#pragma unroll
            for (int k = 0; k < PACK; k++) {
                const C here = ng_get<C>(loaded.all[k]);
                x[j * PACK + k] = here;
                most = ng_larger(most, here);
                sum += here;
            }
        }
#if STANDARDIZE
        const C mean = ng_sum_of_all(sum, shared) / (C)n;
        sum = 0;
#else
        most = ng_largest_of_all(most, shared);
        sum = 0;
#endif
#pragma unroll
        for (int j = 0; j < PACKS; j++) {
            if ((j * WIDTH + lane) * PACK >= n) continue;
#pragma unroll
            for (int k = 0; k < PACK; k++) {
                C &own = x[j * PACK + k];
#if STANDARDIZE
                own -= mean;
                sum += own * own;
#elif LOGARITHM
                own -= most;
                sum += ng_exp(own);
#else
                own = ng_exp(own - most);
                sum += own;
#endif
            }
        }
        sum = ng_sum_of_all(sum, shared);
#if STANDARDIZE
        const C variance = sum / (C)n, by = ng_sqrt(variance + (C)number);
        if (lane == 0) ng_put(note0[at], mean), ng_put(note1[at], variance);
#elif LOGARITHM
        const C by = ng_log(sum);
#else
        const C by = sum;
#endif
        ng_pack<O0, PACK> *to = (ng_pack<O0, PACK> *)(out + ng_offset(out_kept, at));
#pragma unroll
        for (int j = 0; j < PACKS; j++) {
            if ((j * WIDTH + lane) * PACK >= n) continue;
            ng_pack<O0, PACK> made;
#pragma unroll
            for (int k = 0; k < PACK; k++) ng_put(made.all[k], LOGARITHM ? x[j * PACK + k] - by : x[j * PACK + k] / by);
            to[j * WIDTH + lane] = made;
        }
    }
}
