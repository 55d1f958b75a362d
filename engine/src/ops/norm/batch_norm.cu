// Batch norm. A block has COLUMNS channels, whose elements its threads share with those of other parts (blockIdx.y). T are elements, `[images,
// channels, area]`, of which a thread loads PACK together; C is computed in; W are weight (AFFINE is not 0) and bias (AFFINE is 2).

//
// NG_FINISH, where it is there, is a structure that runs a lane program on packs of results (lane/finish.rs).

#define ROWS (256 / COLUMNS)

#ifdef NG_FINISH
NG_FINISH
#define NG_FINISH_PARAMETER , const ng_finish finish
#define NG_FINISH_FIELD const ng_finish &finish;
#define NG_FINISH_ARGUMENT , finish
#define NG_FINISHED(at, made) finish.take(at, made)
#else
#define NG_FINISH_PARAMETER
#define NG_FINISH_FIELD
#define NG_FINISH_ARGUMENT
#define NG_FINISHED(at, made)
#endif

typedef ng_pack<T, PACK> ng_some;

struct ng_sizes {
    ng_i64 images, channels, area;
};

// The packs of a channel that one thread comes by, and the place of the first element of each.
struct ng_walk {
    ng_i64 left, place, at, packs, step_place, step_at, wrap;

    __device__ ng_walk(const ng_sizes &sizes, ng_i64 channel) {
        packs = sizes.area / PACK;
        const ng_i64 first = (ng_i64)blockIdx.y * ROWS + threadIdx.x / COLUMNS, step = (ng_i64)gridDim.y * ROWS;
        const ng_i64 all = channel < sizes.channels ? sizes.images * packs : 0, image = sizes.channels * sizes.area;
        left = first < all ? (all - first + step - 1) / step : 0;
        at = left ? first % packs : 0;
        place = left ? first / packs * image + channel * sizes.area + at * PACK : 0;
        step_at = packs ? step % packs : 0;
        step_place = packs ? step / packs * image + step_at * PACK : 0;
        wrap = image - sizes.area;
    }

    __device__ ng_i64 next() {
        const ng_i64 res = place;
        left--, at += step_at, place += step_place;
        if (at >= packs) at -= packs, place += wrap;
        return res;
    }
};

// Calls `body` for all places, N at a time while there are so many, so that loads come together.
template <int N, class Body>
__device__ inline void ng_each(ng_walk &walk, Body &body) {
    while (walk.left >= N) {
        ng_i64 places[N];
#pragma unroll
        for (int i = 0; i < N; i++) places[i] = walk.next();
        body.template take<N>(places);
    }
}

template <class Body>
__device__ inline void ng_all(ng_walk walk, Body &body) {
    ng_each<4>(walk, body);
    ng_each<1>(walk, body);
}

template <int N>
__device__ inline void ng_load(const T *from, const ng_i64 (&places)[N], ng_some (&to)[N]) {
#pragma unroll
    for (int i = 0; i < N; i++) to[i] = *(const ng_some *)(from + places[i]);
}

// Mean and squared distances from it, joined as by Chan, Golub and LeVeque ("Updating formulae ...", 1979).
struct ng_moments {
    C n, mean, squares;
};

__device__ inline ng_moments ng_both(ng_moments a, ng_moments b) {
    if (a.n == 0) return b;
    if (b.n == 0) return a;
    const C n = a.n + b.n, by = b.mean - a.mean;
    return {n, a.mean + by * (b.n / n), a.squares + b.squares + by * by * (a.n * (b.n / n))};
}

// Sums of `dy` and of `dy * (x - mean)`.
struct ng_products {
    C sum, along;
};

__device__ inline ng_products ng_both(ng_products a, ng_products b) { return {a.sum + b.sum, a.along + b.along}; }

// What the rows of a block have for each of its columns, joined; all get it.
template <class Total>
__device__ inline Total ng_joined(Total own, Total *shared) {
    const int row = threadIdx.x / COLUMNS;
    shared[threadIdx.x] = own;
    __syncthreads();
    for (int half = ROWS / 2; half > 0; half /= 2) {
        if (row < half) shared[threadIdx.x] = ng_both(shared[threadIdx.x], shared[threadIdx.x + half * COLUMNS]);
        __syncthreads();
    }
    const Total res = shared[threadIdx.x % COLUMNS];
    __syncthreads();
    return res;
}

// What all parts have left of a channel.
template <class Total>
__device__ inline Total ng_of_parts(const Total *parts, int n_parts, const ng_sizes &sizes, ng_i64 channel, Total *shared) {
    Total own = {};
    if (channel < sizes.channels)
        for (int part = threadIdx.x / COLUMNS; part < n_parts; part += ROWS) own = ng_both(own, parts[part * sizes.channels + channel]);
    return ng_joined(own, shared);
}

#define NG_CHANNELS(channel, sizes)                                                                                \
    for (ng_i64 block = blockIdx.x, channel = block * COLUMNS + threadIdx.x % COLUMNS; block * COLUMNS < sizes.channels; \
         block += gridDim.x, channel = block * COLUMNS + threadIdx.x % COLUMNS)

// Sums of distances from the first element that the thread has seen, and of their squares.
struct ng_gathered {
    const T *x;
    C n, first, sum, squares;

    template <int N>
    __device__ void take(const ng_i64 (&places)[N]) {
        ng_some loaded[N];
        ng_load(x, places, loaded);
        if (n == 0) first = ng_get<C>(loaded[0].all[0]);
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int k = 0; k < PACK; k++) {
                const C by = ng_get<C>(loaded[i].all[k]) - first;
                sum += by, squares += by * by;
            }
        n += N * PACK;
    }

    __device__ ng_moments moments() const {
        if (n == 0) return {0, 0, 0};
        const C mean = sum / n, rest = squares - sum * mean;
        return {n, first + mean, rest < 0 ? 0 : rest};
    }
};

extern "C" __global__ void batch_norm_moments(const ng_sizes sizes, const T *x, ng_moments *parts) {
    __shared__ ng_moments shared[256];
    NG_CHANNELS(channel, sizes) {
        ng_gathered own = {x, 0, 0, 0, 0};
        ng_all(ng_walk(sizes, channel), own);
        const ng_moments res = ng_joined(own.moments(), shared);
        if (threadIdx.x < COLUMNS && channel < sizes.channels) parts[blockIdx.y * sizes.channels + channel] = res;
    }
}

// `y = (x - centre) * scale + shift`.
struct ng_line {
    const T *x;
    T *y;
    C centre, scale, shift;
    NG_FINISH_FIELD

    template <int N>
    __device__ void take(const ng_i64 (&places)[N]) const {
        ng_some loaded[N];
        ng_load(x, places, loaded);
#pragma unroll
        for (int i = 0; i < N; i++) {
            ng_some made;
#pragma unroll
            for (int k = 0; k < PACK; k++) ng_put(made.all[k], (ng_get<C>(loaded[i].all[k]) - centre) * scale + shift);
            NG_FINISHED(places[i], made);
            *(ng_some *)(y + places[i]) = made;
        }
    }
};

__device__ inline C ng_weight(const W *weight, ng_i64 channel, const ng_sizes &sizes) {
    return AFFINE && channel < sizes.channels ? ng_get<C>(weight[channel]) : (C)1;
}

extern "C" __global__ void batch_norm(const ng_sizes sizes, const T *x, const ng_moments *parts, int n_parts, const W *weight, const W *bias,
                                      T *y, C *means, C *variances, double eps NG_FINISH_PARAMETER) {
    __shared__ ng_moments shared[256];
    NG_CHANNELS(channel, sizes) {
        const ng_moments all = ng_of_parts(parts, n_parts, sizes, channel, shared);
        const C variance = all.n == 0 ? (C)NG_NAN : all.squares / all.n, mean = all.n == 0 ? (C)NG_NAN : all.mean;
        const C scale = ng_weight(weight, channel, sizes) / ng_sqrt(variance + (C)eps);
        const C shift = AFFINE == 2 && channel < sizes.channels ? ng_get<C>(bias[channel]) : (C)0;
        const ng_line line = {x, y, mean, scale, shift NG_FINISH_ARGUMENT};
        ng_all(ng_walk(sizes, channel), line);
        if (blockIdx.y == 0 && threadIdx.x < COLUMNS && channel < sizes.channels) means[channel] = mean, variances[channel] = variance;
    }
}

struct ng_slopes_gathered {
    const T *dy, *x;
    C centre;
    ng_products total;

    template <int N>
    __device__ void take(const ng_i64 (&places)[N]) {
        ng_some slopes[N], loaded[N];
        ng_load(dy, places, slopes);
        ng_load(x, places, loaded);
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int k = 0; k < PACK; k++) {
                const C slope = ng_get<C>(slopes[i].all[k]);
                total.sum += slope, total.along += slope * (ng_get<C>(loaded[i].all[k]) - centre);
            }
    }
};

extern "C" __global__ void batch_norm_products(const ng_sizes sizes, const T *dy, const T *x, const C *means, ng_products *parts) {
    __shared__ ng_products shared[256];
    NG_CHANNELS(channel, sizes) {
        ng_slopes_gathered own = {dy, x, channel < sizes.channels ? means[channel] : (C)0, {0, 0}};
        ng_all(ng_walk(sizes, channel), own);
        const ng_products res = ng_joined(own.total, shared);
        if (threadIdx.x < COLUMNS && channel < sizes.channels) parts[blockIdx.y * sizes.channels + channel] = res;
    }
}

// `dx = (dy - mean - (x - centre) * along) * scale`.
struct ng_slope {
    const T *dy, *x;
    T *dx;
    C centre, mean, along, scale;

    template <int N>
    __device__ void take(const ng_i64 (&places)[N]) const {
        ng_some slopes[N], loaded[N];
        ng_load(dy, places, slopes);
        ng_load(x, places, loaded);
#pragma unroll
        for (int i = 0; i < N; i++) {
            ng_some made;
#pragma unroll
            for (int k = 0; k < PACK; k++)
                ng_put(made.all[k], (ng_get<C>(slopes[i].all[k]) - mean - (ng_get<C>(loaded[i].all[k]) - centre) * along) * scale);
            *(ng_some *)(dx + places[i]) = made;
        }
    }
};

extern "C" __global__ void batch_norm_backward(const ng_sizes sizes, const T *dy, const T *x, const C *means, const C *variances,
                                               const ng_products *parts, int n_parts, const W *weight, T *dx, W *dweight, W *dbias,
                                               double eps) {
    __shared__ ng_products shared[256];
    NG_CHANNELS(channel, sizes) {
        const ng_products all = ng_of_parts(parts, n_parts, sizes, channel, shared);
        const bool is_one = channel < sizes.channels;
        const C n = (C)(sizes.images * sizes.area), centre = is_one ? means[channel] : (C)0;
        const C scale = (C)1 / ng_sqrt((is_one ? variances[channel] : (C)1) + (C)eps);
        const ng_slope slope = {dy, x, dx, centre, all.sum / n, all.along / n * scale * scale,
                                scale * ng_weight(weight, channel, sizes)};
        ng_all(ng_walk(sizes, channel), slope);
        if (dweight != 0 && blockIdx.y == 0 && threadIdx.x < COLUMNS && is_one) {
            ng_put(dweight[channel], all.along * scale);
            ng_put(dbias[channel], all.sum);
        }
    }
}
