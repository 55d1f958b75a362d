// As `lines.cu`, for lines that lie in a row and that their threads hold: each element is loaded once. Names: T and O0 elements, C the type that
// is computed in, WIDTH threads of a line (32 or 256), PACK elements that are loaded together, PACKS of them for a thread, FULL whether all of
// these are there; FORM softmax, its logarithm or a standardised line, which is multiplied by a weight and gets a bias of elements W where
// AFFINE is 1 (the weight alone) or 2.

#define SOFTMAX 0
#define LOG_SOFTMAX 1
#define STANDARD 2
#define LAYER_NORM 3

// e^x. Halves do not tell the chip's power of two from the right one.
__device__ inline C ng_power(C x) {
#if COARSE && defined(__CUDACC_RTC__)
    float res;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(res) : "f"(x * 1.44269504f));
    return res;
#else
    return ng_exp(x);
#endif
}

extern "C" __global__ void held(ng_i64 outer, ng_i64 n, const T *in, const ng_dims kept, O0 *out, const ng_dims out_kept,
                                O0 *note0, O0 *note1, const W *weight, const W *bias, double number) {
    __shared__ C shared[8];
    const int lane = threadIdx.x % WIDTH;
    for (ng_i64 at = (ng_i64)blockIdx.x * LINES + threadIdx.x / WIDTH; at < outer; at += (ng_i64)gridDim.x * LINES) {
        const ng_pack<T, PACK> *from = (const ng_pack<T, PACK> *)(in + ng_offset(kept, at));
        C x[PACKS * PACK];
        C most = -(C)NG_INFINITY, sum = 0;
#pragma unroll
        for (int j = 0; j < PACKS; j++) {
            if (!FULL && (j * WIDTH + lane) * PACK >= n) continue;
            const ng_pack<T, PACK> loaded = from[j * WIDTH + lane];
#pragma unroll
            for (int k = 0; k < PACK; k++) {
                const C here = ng_get<C>(loaded.all[k]);
                x[j * PACK + k] = here;
                if (FORM >= STANDARD) sum += here;
                else most = ng_larger(most, here);
            }
        }
        const C centre = FORM >= STANDARD ? ng_sum(sum, shared) / (C)n : ng_largest(most, shared);
        sum = 0;
#pragma unroll
        for (int j = 0; j < PACKS; j++) {
            if (!FULL && (j * WIDTH + lane) * PACK >= n) continue;
#pragma unroll
            for (int k = 0; k < PACK; k++) {
                C &own = x[j * PACK + k];
                own -= centre;
                if (FORM == SOFTMAX) own = ng_power(own);
                sum += FORM == LOG_SOFTMAX ? ng_power(own) : FORM == SOFTMAX ? own : own * own;
            }
        }
        sum = ng_sum(sum, shared);
        const C variance = sum / (C)n;
        if (FORM == STANDARD && lane == 0) ng_put(note0[at], centre), ng_put(note1[at], variance);
        const C by = FORM == LOG_SOFTMAX ? ng_log(sum) : (C)1 / (FORM == SOFTMAX ? sum : ng_sqrt(variance + (C)number));
        ng_pack<O0, PACK> *to = (ng_pack<O0, PACK> *)(out + ng_offset(out_kept, at));
#pragma unroll
        for (int j = 0; j < PACKS; j++) {
            const int pack = j * WIDTH + lane;
            if (!FULL && pack * PACK >= n) continue;
            ng_pack<O0, PACK> made;
#if AFFINE
            const ng_pack<W, PACK> weights = ((const ng_pack<W, PACK> *)weight)[pack];
#endif
#if AFFINE == 2
            const ng_pack<W, PACK> biases = ((const ng_pack<W, PACK> *)bias)[pack];
#endif
#pragma unroll
            for (int k = 0; k < PACK; k++) {
                C y = FORM == LOG_SOFTMAX ? x[j * PACK + k] - by : x[j * PACK + k] * by;
#if AFFINE
                y *= ng_get<C>(weights.all[k]);
#endif
#if AFFINE == 2
                y += ng_get<C>(biases.all[k]);
#endif
                ng_put(made.all[k], y);
            }
            to[pack] = made;
        }
    }
}
