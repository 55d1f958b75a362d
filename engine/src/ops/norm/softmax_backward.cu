// `y * (dy - sum(dy * y))` along lines, of the logarithm `dy - exp(y) * sum(dy)`. Names: T elements, C the type that is computed in, LOG 1 for
// the logarithm, WIDTH threads of a row, PACK elements that are loaded together.

__device__ inline C ng_share_of_sum(T slope, T result) {
    return LOG ? ng_get<C>(slope) : ng_get<C>(slope) * ng_get<C>(result);
}

__device__ inline C ng_slope(T slope, T result, C sum) {
    if (LOG) return ng_get<C>(slope) - ng_exp(ng_get<C>(result)) * sum;
    return ng_get<C>(result) * (ng_get<C>(slope) - sum);
}

extern "C" __global__ void softmax_backward(ng_i64 rows, ng_i64 n, const T *slopes, const T *results, T *out) {
    __shared__ C shared[8];
    const int lane = threadIdx.x % WIDTH;
    const ng_i64 packs = n / PACK;
    for (ng_i64 row = (ng_i64)blockIdx.x * LINES + threadIdx.x / WIDTH; row < rows; row += (ng_i64)gridDim.x * LINES) {
        const ng_pack<T, PACK> *dy = (const ng_pack<T, PACK> *)(slopes + row * n);
        const ng_pack<T, PACK> *y = (const ng_pack<T, PACK> *)(results + row * n);
        ng_pack<T, PACK> *to = (ng_pack<T, PACK> *)(out + row * n);
        C sum = 0;
        for (ng_i64 at = lane; at < packs; at += WIDTH) {
            const ng_pack<T, PACK> slope = dy[at], result = y[at];
#pragma unroll
            for (int k = 0; k < PACK; k++) sum += ng_share_of_sum(slope.all[k], result.all[k]);
        }
        sum = ng_sum(sum, shared);
        for (ng_i64 at = lane; at < packs; at += WIDTH) {
            const ng_pack<T, PACK> slope = dy[at], result = y[at];
            ng_pack<T, PACK> made;
#pragma unroll
            for (int k = 0; k < PACK; k++) ng_put(made.all[k], ng_slope(slope.all[k], result.all[k], sum));
            to[at] = made;
        }
    }
}

// Lines whose elements are `inner` apart: a thread each.
extern "C" __global__ void softmax_backward_columns(ng_i64 lines, ng_i64 n, ng_i64 inner, const T *slopes, const T *results, T *out) {
    NG_EACH(line, lines) {
        const ng_i64 first = line / inner * n * inner + line % inner;
        C sum = 0;
        for (ng_i64 at = first; at < first + n * inner; at += inner) sum += ng_share_of_sum(slopes[at], results[at]);
        for (ng_i64 at = first; at < first + n * inner; at += inner)
            ng_put(out[at], ng_slope(slopes[at], results[at], sum));
    }
}
