// Losses of rows of scores. Names: T scores, I classes, C the type that is computed in.

struct ng_share {
    C most, sum;
};

__device__ inline ng_share ng_join(ng_share a, ng_share b) {
    if (a.most != a.most || b.most != b.most) return {(C)NG_NAN, (C)1};
    const C most = a.most > b.most ? a.most : b.most;
    if (most == -(C)NG_INFINITY) return {most, 0};
    const C x = a.sum == 0 ? 0 : a.sum * ng_exp(a.most - most), y = b.sum == 0 ? 0 : b.sum * ng_exp(b.most - most);
    return {most, x + y};
}

// The largest score of a row, and the sum of exponentials of distances from it, for all threads of the block.
__device__ inline ng_share ng_row(const T *scores, ng_i64 n, ng_i64 step, ng_share *shared) {
    ng_share total = {-(C)NG_INFINITY, 0};
    for (ng_i64 i = threadIdx.x; i < n; i += 256) total = ng_join(total, ng_share{ng_get<C>(scores[i * step]), 1});
    shared[threadIdx.x] = total;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] = ng_join(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    total = shared[0];
    __syncthreads();
    return total;
}

// The loss of each row, and whether it counts.
extern "C" __global__ void cross_entropy(ng_i64 rows, ng_i64 n, const T *scores, ng_i64 row_step, ng_i64 step, const I *target,
                                         ng_i64 target_step, ng_i64 ignored, C *losses, C *counts, ng_fault *fault) {
    __shared__ ng_share shared[256];
    for (ng_i64 row = blockIdx.x; row < rows; row += gridDim.x) {
        const T *own = scores + row * row_step;
        const ng_share total = ng_row(own, n, step, shared);
        if (threadIdx.x != 0) continue;
        const ng_i64 named = ng_get<ng_i64>(target[row * target_step]);
        const bool counts_it = named != ignored, fits = named >= 0 && named < n;
        if (counts_it && !fits) ng_refuse(fault, 1u, named);
        losses[row] = counts_it && fits ? (total.most + ng_log(total.sum)) - ng_get<C>(own[named * step]) : (C)0;
        counts[row] = counts_it;
    }
}

// HOW: 0 each loss, 1 their sum, 2 their mean. One block adds up.
extern "C" __global__ void cross_entropy_total(ng_i64 rows, const C *losses, const C *counts, T *out, T *divisor) {
    __shared__ C sums[256], counted[256];
    C sum = 0, count = 0;
    for (ng_i64 row = threadIdx.x; row < rows; row += 256) {
        sum += losses[row], count += counts[row];
#if HOW == 0
        ng_put(out[row], losses[row]);
#endif
    }
    sums[threadIdx.x] = sum, counted[threadIdx.x] = count;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
            counted[threadIdx.x] += counted[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x != 0) return;
    const C by = HOW == 2 ? counted[0] : (C)1;
#if HOW != 0
    ng_put(out[0], sums[0] / by);
#endif
    ng_put(divisor[0], by);
}

extern "C" __global__ void cross_entropy_backward(ng_i64 rows, ng_i64 n, const T *scores, ng_i64 row_step, ng_i64 step,
                                                  const I *target, ng_i64 target_step, ng_i64 ignored, const T *scale,
                                                  ng_i64 scale_step, T *out, ng_fault *fault) {
    __shared__ ng_share shared[256];
    for (ng_i64 row = blockIdx.x; row < rows; row += gridDim.x) {
        const T *own = scores + row * row_step;
        const ng_share total = ng_row(own, n, step, shared);
        const ng_i64 named = ng_get<ng_i64>(target[row * target_step]);
        const bool counts_it = named != ignored;
        if (counts_it && (named < 0 || named >= n) && threadIdx.x == 0) ng_refuse(fault, 1u, named);
        const C by = counts_it ? ng_get<C>(scale[row * scale_step]) : (C)0;
        for (ng_i64 i = threadIdx.x; i < n; i += 256) {
            const C share = ng_exp(ng_get<C>(own[i * step]) - total.most) / total.sum;
            ng_put(out[row * n + i], counts_it ? (share - (C)(i == named)) * by : (C)0);
        }
    }
}

extern "C" __global__ void pick_class(ng_i64 rows, ng_i64 n, const T *scores, ng_i64 row_step, ng_i64 step, const I *target,
                                      ng_i64 target_step, ng_i64 ignored, T *out, ng_fault *fault) {
    NG_EACH(row, rows) {
        const ng_i64 named = ng_get<ng_i64>(target[row * target_step]);
        const bool counts_it = named != ignored, fits = named >= 0 && named < n;
        if (counts_it && !fits) ng_refuse(fault, 1u, named);
        if (counts_it && fits) out[row] = scores[row * row_step + named * step];
        else ng_put(out[row], (C)0);
    }
}

extern "C" __global__ void pick_class_backward(ng_i64 rows, ng_i64 n, const T *slopes, ng_i64 step, const I *target,
                                               ng_i64 target_step, ng_i64 ignored, T *out, ng_fault *fault) {
    NG_EACH(at, rows * n) {
        const ng_i64 row = at / n, class_at = at % n, named = ng_get<ng_i64>(target[row * target_step]);
        const bool counts_it = named != ignored;
        if (counts_it && (named < 0 || named >= n) && class_at == 0) ng_refuse(fault, 1u, named);
        if (counts_it && named == class_at) out[at] = slopes[row * step];
        else ng_put(out[at], (C)0);
    }
}

extern "C" __global__ void probabilities(ng_i64 n, const T *in, T *out, ng_fault *fault) {
    NG_EACH(at, n) {
        const C p = ng_get<C>(in[at]);
        if (!(p >= 0 && p <= 1)) ng_refuse(fault, 1u, 0);
        out[at] = in[at];
    }
}
