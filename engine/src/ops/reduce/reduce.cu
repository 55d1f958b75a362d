// Folds lines of elements into one result each. Names: T elements, O0 and O1 results, FOLD a structure with `first`, `with`, `both` and
// `finish`, COLUMNS threads of a block side by side, WIDTH along a line; where both are few, a block has several lines.
//
// What is folded comes out the same on every run: no sum depends on which thread is faster.

#define ROWS WIDTH
#define LINES (256 / WIDTH)

extern "C" __global__ void reduce(ng_i64 outer, ng_i64 n, const T *in, const ng_dims kept, const ng_dims line, O0 *out0,
                                  O1 *out1, double number, ng_total *parts) {
    __shared__ ng_total shared[256];
    // Side by side are lines, or the threads of one.
    const int column = COLUMNS > 1 ? threadIdx.x % COLUMNS : threadIdx.x / WIDTH;
    const int row = COLUMNS > 1 ? threadIdx.x / COLUMNS : threadIdx.x % WIDTH;
    const int apart = COLUMNS > 1 ? COLUMNS : 1;
    for (ng_i64 block = blockIdx.x; block * LINES < outer; block += gridDim.x) {
        const ng_i64 at = block * LINES + column;
        ng_total total = FOLD::first();
        if (at < outer) {
            const T *from = in + ng_offset(kept, at);
#if PACK > 1
            // Elements that lie in a row are loaded together, four packs before the first is folded.
            const ng_pack<T, PACK> *packs = (const ng_pack<T, PACK> *)from;
            const ng_i64 n_packs = n / PACK, step = (ng_i64)gridDim.y * ROWS;
            ng_i64 at_pack = (ng_i64)blockIdx.y * ROWS + row;
            for (; at_pack + 3 * step < n_packs; at_pack += 4 * step) {
                ng_pack<T, PACK> loaded[4];
#pragma unroll
                for (int j = 0; j < 4; j++) loaded[j] = packs[at_pack + j * step];
#pragma unroll
                for (int j = 0; j < 4; j++)
#pragma unroll
                    for (int k = 0; k < PACK; k++)
                        total = FOLD::with(total, loaded[j].all[k], (at_pack + j * step) * PACK + k, number);
            }
            for (; at_pack < n_packs; at_pack += step) {
                const ng_pack<T, PACK> loaded = packs[at_pack];
#pragma unroll
                for (int k = 0; k < PACK; k++) total = FOLD::with(total, loaded.all[k], at_pack * PACK + k, number);
            }
            if (blockIdx.y == 0 && n_packs * PACK + row < n)
                total = FOLD::with(total, from[n_packs * PACK + row], n_packs * PACK + row, number);
#else
            const ng_i64 step = (ng_i64)gridDim.y * ROWS;
            ng_i64 i = (ng_i64)blockIdx.y * ROWS + row;
            for (; i + 3 * step < n; i += 4 * step) {
                T loaded[4];
#pragma unroll
                for (int j = 0; j < 4; j++) loaded[j] = from[ng_along(line, i + j * step)];
#pragma unroll
                for (int j = 0; j < 4; j++) total = FOLD::with(total, loaded[j], i + j * step, number);
            }
            for (; i < n; i += step) total = FOLD::with(total, from[ng_along(line, i)], i, number);
#endif
        }
        shared[threadIdx.x] = total;
        __syncthreads();
        for (int half = ROWS / 2; half > 0; half /= 2) {
            if (row < half) shared[threadIdx.x] = FOLD::both(shared[threadIdx.x], shared[threadIdx.x + half * apart]);
            __syncthreads();
        }
        if (row == 0 && at < outer) {
            if (gridDim.y == 1) FOLD::finish(shared[threadIdx.x], n, number, out0 + at, out1 + at);
            else parts[blockIdx.y * outer + at] = shared[threadIdx.x];
        }
        __syncthreads();
    }
}
