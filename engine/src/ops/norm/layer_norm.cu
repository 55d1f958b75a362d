// Rows of a layer norm that are too long for the threads of a block to hold, and the gradients of all. Names: as in `held.cu`; dweight and
// dbias are wanted where PARAMETERS is 1.

__device__ inline C ng_weight(const W *weight, ng_i64 at) {
#if AFFINE
    return ng_get<C>(weight[at]);
#else
    return 1;
#endif
}

// The mean of a row and the reciprocal of its deviation.
struct ng_stats {
    C mean, scale;
};

__device__ inline ng_stats ng_stats_of(const T *x, ng_i64 n, C eps, C *shared) {
    C sum = 0, squares = 0;
    for (ng_i64 i = threadIdx.x; i < n; i += 256) sum += ng_get<C>(x[i]);
    const C mean = ng_sum(sum, shared) / (C)n;
    for (ng_i64 i = threadIdx.x; i < n; i += 256) {
        const C by = ng_get<C>(x[i]) - mean;
        squares += by * by;
    }
    return {mean, (C)1 / ng_sqrt(ng_sum(squares, shared) / (C)n + eps)};
}

extern "C" __global__ void layer_norm_long(ng_i64 rows, ng_i64 n, const T *in, const W *weight, const W *bias, T *out, double eps) {
    __shared__ C shared[8];
    for (ng_i64 row = blockIdx.x; row < rows; row += gridDim.x) {
        const T *x = in + row * n;
        const ng_stats stats = ng_stats_of(x, n, (C)eps, shared);
        for (ng_i64 i = threadIdx.x; i < n; i += 256) {
            C y = (ng_get<C>(x[i]) - stats.mean) * stats.scale * ng_weight(weight, i);
#if AFFINE == 2
            y += ng_get<C>(bias[i]);
#endif
            ng_put(out[row * n + i], y);
        }
    }
}

// With `g = dy * weight`: `dx = (g - mean(g) - (x - mean) * mean(g * (x - mean)) * scale^2) * scale`.
extern "C" __global__ void layer_norm_backward_long(ng_i64 rows, ng_i64 n, const T *slopes, const T *in, const W *weight, T *out,
                                                    ng_stats *stats, double eps) {
    __shared__ C shared[16];
    for (ng_i64 row = blockIdx.x; row < rows; row += gridDim.x) {
        const T *x = in + row * n, *dy = slopes + row * n;
        const ng_stats own = ng_stats_of(x, n, (C)eps, shared);
        C sums[2] = {0, 0};
        for (ng_i64 i = threadIdx.x; i < n; i += 256) {
            const C g = ng_get<C>(dy[i]) * ng_weight(weight, i);
            sums[0] += g, sums[1] += g * (ng_get<C>(x[i]) - own.mean);
        }
        ng_sums(sums, shared);
        const C mean = sums[0] / (C)n, along = sums[1] / (C)n * own.scale * own.scale;
        for (ng_i64 i = threadIdx.x; i < n; i += 256) {
            const C g = ng_get<C>(dy[i]) * ng_weight(weight, i);
            ng_put(out[row * n + i], (g - mean - (ng_get<C>(x[i]) - own.mean) * along) * own.scale);
        }
        if (threadIdx.x == 0) stats[row] = own;
    }
}

// Sums over the rows of each part: of `dy * (x - mean) * scale`, then of `dy`.
extern "C" __global__ void layer_norm_parts(ng_i64 rows, ng_i64 n, const T *dy, const T *x, const ng_stats *stats, C *parts) {
    const ng_i64 part = blockIdx.y, step = (rows + gridDim.y - 1) / gridDim.y;
    const ng_i64 end = (part + 1) * step < rows ? (part + 1) * step : rows;
    NG_EACH(column, n) {
        C along = 0, sum = 0;
        for (ng_i64 row = part * step; row < end; row++) {
            const C slope = ng_get<C>(dy[row * n + column]);
            along += slope * ((ng_get<C>(x[row * n + column]) - stats[row].mean) * stats[row].scale), sum += slope;
        }
        parts[part * 2 * n + column] = along, parts[(part * 2 + 1) * n + column] = sum;
    }
}

// The sums of all parts.
extern "C" __global__ void layer_norm_parameters(ng_i64 n_parts, ng_i64 n, const C *parts, W *dweight, W *dbias) {
    __shared__ C shared[256];
    const ng_i64 column = (ng_i64)blockIdx.x * 32 + threadIdx.x % 32;
    C sum = 0;
    if (column < 2 * n)
        for (ng_i64 part = threadIdx.x / 32; part < n_parts; part += 8) sum += parts[part * 2 * n + column];
    shared[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x >= 32 || column >= 2 * n) return;
    for (int row = 1; row < 8; row++) sum += shared[row * 32 + threadIdx.x];
    if (column < n) ng_put(dweight[column], sum);
    else ng_put(dbias[column - n], sum);
}

#if WIDTH == 32
// The sums of the warps of a block, one after the other; columns lie as in `layer_norm_backward`.
__device__ inline void ng_gather(const C (&own)[PACKS * PACK], ng_i64 n, C *shared, C *to) {
    const int lane = threadIdx.x % 32;
    for (int warp = 0; warp < 8; warp++) {
        if (threadIdx.x / 32 == warp) {
#pragma unroll
            for (int i = 0; i < PACKS * PACK; i++) {
                const int column = (i / PACK * 32 + lane) * PACK + i % PACK;
                shared[column] = warp == 0 ? own[i] : shared[column] + own[i];
            }
        }
        __syncthreads();
    }
    for (int column = threadIdx.x; column < n; column += 256) to[column] = shared[column];
    __syncthreads();
}
#else
__device__ inline void ng_gather(const C (&own)[PACKS * PACK], ng_i64 n, C *, C *to) {
#pragma unroll
    for (int i = 0; i < PACKS * PACK; i++) {
        const int column = (i / PACK * WIDTH + (int)threadIdx.x) * PACK + i % PACK;
        if (column < n) to[column] = own[i];
    }
}
#endif

// As `layer_norm_backward_long`, for rows that their threads hold; these also add up what dweight and dbias get from the rows of a block.
extern "C" __global__ void layer_norm_backward(ng_i64 rows, ng_i64 n, const T *slopes, const T *in, const W *weight, T *out, C *parts,
                                               double eps) {
    __shared__ C shared[24];
    const int lane = threadIdx.x % WIDTH;
    C weights[PACKS * PACK], along_all[PACKS * PACK], sum_all[PACKS * PACK];
#pragma unroll
    for (int i = 0; i < PACKS * PACK; i++) {
        const int column = (i / PACK * WIDTH + lane) * PACK + i % PACK;
        weights[i] = column < n ? ng_weight(weight, column) : (C)0;
        along_all[i] = sum_all[i] = 0;
    }
    for (ng_i64 row = (ng_i64)blockIdx.x * LINES + threadIdx.x / WIDTH; row < rows; row += (ng_i64)gridDim.x * LINES) {
        const ng_pack<T, PACK> *x_from = (const ng_pack<T, PACK> *)(in + row * n);
        const ng_pack<T, PACK> *dy_from = (const ng_pack<T, PACK> *)(slopes + row * n);
        C x[PACKS * PACK], dy[PACKS * PACK], sum = 0;
#pragma unroll
        for (int j = 0; j < PACKS; j++) {
            const int pack = j * WIDTH + lane;
            if (!FULL && pack * PACK >= n) continue;
            const ng_pack<T, PACK> x_loaded = x_from[pack], dy_loaded = dy_from[pack];
#pragma unroll
            for (int k = 0; k < PACK; k++) {
                x[j * PACK + k] = ng_get<C>(x_loaded.all[k]);
                dy[j * PACK + k] = ng_get<C>(dy_loaded.all[k]);
                sum += x[j * PACK + k];
            }
        }
        const C centre = ng_sum(sum, shared) / (C)n;
        C sums[3] = {0, 0, 0};
#pragma unroll
        for (int i = 0; i < PACKS * PACK; i++) {
            if (!FULL && (i / PACK * WIDTH + lane) * PACK >= n) continue;
            x[i] -= centre;
            const C g = dy[i] * weights[i];
            sums[0] += x[i] * x[i], sums[1] += g, sums[2] += g * x[i];
        }
        ng_sums(sums, shared);
        const C scale = (C)1 / ng_sqrt(sums[0] / (C)n + (C)eps);
        const C mean = sums[1] / (C)n, along = sums[2] / (C)n * scale;
        ng_pack<T, PACK> *to = (ng_pack<T, PACK> *)(out + row * n);
#pragma unroll
        for (int j = 0; j < PACKS; j++) {
            const int pack = j * WIDTH + lane;
            if (!FULL && pack * PACK >= n) continue;
            ng_pack<T, PACK> made;
#pragma unroll
            for (int k = 0; k < PACK; k++) {
                const int i = j * PACK + k;
                const C y = x[i] * scale;
                ng_put(made.all[k], (dy[i] * weights[i] - mean - y * along) * scale);
                along_all[i] += dy[i] * y, sum_all[i] += dy[i];
            }
            to[pack] = made;
        }
    }
#if PARAMETERS
    __shared__ C gathered[WIDTH == 32 ? PACKS * PACK * 32 : 1];
    ng_gather(along_all, n, gathered, parts + (ng_i64)blockIdx.x * 2 * n);
    ng_gather(sum_all, n, gathered, parts + (ng_i64)blockIdx.x * 2 * n + n);
#endif
}
