// Folds lines whose elements lie apart and whose neighbours lie side by side: a thread has PACK lines, which it loads together, COLUMNS threads
// stand side by side, the others of a block along the lines. Other names as in `reduce.cu`.

#define ROWS (256 / COLUMNS)

typedef ng_pack<T, PACK> ng_row;

// PACK elements, the first of which is number `i` of its line.
__device__ inline ng_row ng_load(const T *from, const ng_dims &line, ng_i64 i) { return *(const ng_row *)(from + ng_along(line, i)); }

__device__ inline void ng_fold(ng_total (&totals)[PACK], const ng_row &row, ng_i64 i, double number) {
#pragma unroll
    for (int k = 0; k < PACK; k++) totals[k] = FOLD::with(totals[k], row.all[k], i, number);
}

extern "C" __global__ void reduce_columns(ng_i64 outer, ng_i64 n, const T *in, const ng_dims kept, const ng_dims line, O0 *out0,
                                          O1 *out1, double number, ng_total *parts) {
    __shared__ ng_total shared[256];
    const int column = threadIdx.x % COLUMNS, row = threadIdx.x / COLUMNS;
    for (ng_i64 block = blockIdx.x; block * COLUMNS * PACK < outer; block += gridDim.x) {
        const ng_i64 at = (block * COLUMNS + column) * PACK;
        ng_total totals[PACK];
#pragma unroll
        for (int k = 0; k < PACK; k++) totals[k] = FOLD::first();
        if (at < outer) {
            const T *from = in + ng_offset(kept, at);
            const ng_i64 step = (ng_i64)gridDim.y * ROWS;
            ng_i64 i = (ng_i64)blockIdx.y * ROWS + row;
            for (; i + 3 * step < n; i += 4 * step) {
                ng_row loaded[4];
#pragma unroll
                for (int j = 0; j < 4; j++) loaded[j] = ng_load(from, line, i + j * step);
#pragma unroll
                for (int j = 0; j < 4; j++) ng_fold(totals, loaded[j], i + j * step, number);
            }
            for (; i < n; i += step) ng_fold(totals, ng_load(from, line, i), i, number);
        }
#pragma unroll
        for (int k = 0; k < PACK; k++) {
            shared[threadIdx.x] = totals[k];
            __syncthreads();
            for (int half = ROWS / 2; half > 0; half /= 2) {
                if (row < half) shared[threadIdx.x] = FOLD::both(shared[threadIdx.x], shared[threadIdx.x + half * COLUMNS]);
                __syncthreads();
            }
            if (row == 0 && at < outer) {
                if (gridDim.y == 1) FOLD::finish(shared[threadIdx.x], n, number, out0 + at + k, out1 + at + k);
                else parts[blockIdx.y * outer + at + k] = shared[threadIdx.x];
            }
            __syncthreads();
        }
    }
}
