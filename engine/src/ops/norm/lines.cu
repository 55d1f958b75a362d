// Folds each line of elements, and makes another of it. Names as in `reduce.cu`, and MAP, a structure with `of` and `note`.

#define ROWS (256 / COLUMNS)

typedef FOLD::Total ng_total;

__device__ inline ng_i64 ng_along(const ng_dims &line, ng_i64 at) {
#if EVEN
    return at * line.strides[0];
#else
    return ng_offset(line, at);
#endif
}

// How far an element is below the largest; infinity less infinity, and so all of a line whose largest element is infinite, is NaN.
__device__ inline C ng_below(C x, C most) { return x - most + (most - most); }

struct ng_softmax {
    template <class S>
    __device__ static C of(C x, S total, ng_i64, double) { return ng_exp(ng_below(x, total.most)) / total.sum; }
    template <class S>
    __device__ static void note(S, ng_i64, O0 *, O0 *) {}
};

struct ng_log_softmax {
    template <class S>
    __device__ static C of(C x, S total, ng_i64, double) { return ng_below(x, total.most) - ng_log(total.sum); }
    template <class S>
    __device__ static void note(S, ng_i64, O0 *, O0 *) {}
};

struct ng_standardize {
    template <class S>
    __device__ static C of(C x, S total, ng_i64 n, double eps) {
        return (x - total.mean) / ng_sqrt(total.squares / (C)n + (C)eps);
    }
    template <class S>
    __device__ static void note(S total, ng_i64 n, O0 *mean, O0 *variance) {
        ng_put(*mean, total.mean);
        ng_put(*variance, total.squares / (C)n);
    }
};

extern "C" __global__ void lines(ng_i64 outer, ng_i64 n, const T *in, const ng_dims kept, const ng_dims line, O0 *out,
                                 const ng_dims out_kept, const ng_dims out_line, O0 *note0, O0 *note1, double number) {
    __shared__ ng_total shared[256];
    const int column = threadIdx.x % COLUMNS, row = threadIdx.x / COLUMNS;
    for (ng_i64 block = blockIdx.x; block * COLUMNS < outer; block += gridDim.x) {
        const ng_i64 at = block * COLUMNS + column;
        const T *from = in + (at < outer ? ng_offset(kept, at) : 0);
        ng_total total = FOLD::first();
        if (at < outer)
            for (ng_i64 i = row; i < n; i += ROWS) total = FOLD::with(total, from[ng_along(line, i)], i, number);
        shared[threadIdx.x] = total;
        __syncthreads();
        for (int half = ROWS / 2; half > 0; half /= 2) {
            if (row < half) shared[threadIdx.x] = FOLD::both(shared[threadIdx.x], shared[threadIdx.x + half * COLUMNS]);
            __syncthreads();
        }
        total = shared[column];
        if (at < outer) {
            O0 *to = out + ng_offset(out_kept, at);
            for (ng_i64 i = row; i < n; i += ROWS)
                ng_put(to[ng_along(out_line, i)], MAP::of(ng_get<C>(from[ng_along(line, i)]), total, n, number));
            if (row == 0) MAP::note(total, n, note0 + at, note1 + at);
        }
        __syncthreads();
    }
}
