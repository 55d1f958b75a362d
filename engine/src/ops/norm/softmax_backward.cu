// `y * (dy - sum(dy * y))` along lines. Names: T elements, C the type that is computed in, WIDTH threads of a row, PACK elements that are loaded
// together.

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
            for (int k = 0; k < PACK; k++) sum += ng_get<C>(slope.all[k]) * ng_get<C>(result.all[k]);
        }
        sum = ng_sum(sum, shared);
        for (ng_i64 at = lane; at < packs; at += WIDTH) {
            const ng_pack<T, PACK> slope = dy[at], result = y[at];
            ng_pack<T, PACK> made;
#pragma unroll
            for (int k = 0; k < PACK; k++)
                ng_put(made.all[k], ng_get<C>(result.all[k]) * (ng_get<C>(slope.all[k]) - sum));
            to[at] = made;
        }
    }
}

// Lines whose elements are `inner` apart: a thread each.
extern "C" __global__ void softmax_backward_columns(ng_i64 lines, ng_i64 n, ng_i64 inner, const T *slopes, const T *results, T *out) {
    NG_EACH(line, lines) {
        const ng_i64 first = line / inner * n * inner + line % inner;
        C sum = 0;
        for (ng_i64 at = first; at < first + n * inner; at += inner) sum += ng_get<C>(slopes[at]) * ng_get<C>(results[at]);
        for (ng_i64 at = first; at < first + n * inner; at += inner)
            ng_put(out[at], ng_get<C>(results[at]) * (ng_get<C>(slopes[at]) - sum));
    }
}
