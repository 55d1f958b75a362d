// What blocks leave of lines that are cut into parts. Names as in `reduce.cu`.

typedef FOLD::Total ng_total;

// Where element `at` of a line lies.
__device__ inline ng_i64 ng_along(const ng_dims &line, ng_i64 at) {
#if EVEN
    return at * line.strides[0];
#else
    return ng_offset(line, at);
#endif
}

// Folds what the blocks of each line have left, with `width` threads of a block for a line, a power of 2.
extern "C" __global__ void reduce_rest(ng_i64 outer, ng_i64 n, ng_i64 n_parts, int width, const ng_total *parts, O0 *out0, O1 *out1,
                                       double number) {
    __shared__ ng_total shared[256];
    const int lines = 256 / width, column = threadIdx.x % lines, row = threadIdx.x / lines;
    for (ng_i64 block = blockIdx.x; block * lines < outer; block += gridDim.x) {
        const ng_i64 at = block * lines + column;
        ng_total total = FOLD::first();
        if (at < outer) {
#pragma unroll 4
            for (ng_i64 part = row; part < n_parts; part += width) total = FOLD::both(total, parts[part * outer + at]);
        }
        shared[threadIdx.x] = total;
        __syncthreads();
        for (int half = width / 2; half > 0; half /= 2) {
            if (row < half) shared[threadIdx.x] = FOLD::both(shared[threadIdx.x], shared[threadIdx.x + half * lines]);
            __syncthreads();
        }
        if (row == 0 && at < outer) FOLD::finish(shared[threadIdx.x], n, number, out0 + at, out1 + at);
        __syncthreads();
    }
}
