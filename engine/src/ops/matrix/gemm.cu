// Products of matrices in tiles of 64 x 64, 16 steps at a time, of which each of 256 threads computes 4 x 4. Of all types of elements; where
// the vendor's library is there, it has the floats.

#define TILE 64
#define DEPTH 16

__device__ inline float ng_multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
__device__ inline double ng_multiply_add(double a, double b, double c) { return fma(a, b, c); }
__device__ inline int ng_multiply_add(int a, int b, int c) {
    return (int)((unsigned)a * (unsigned)b + (unsigned)c);
}
__device__ inline ng_i64 ng_multiply_add(ng_i64 a, ng_i64 b, ng_i64 c) {
    return (ng_i64)((unsigned long long)a * (unsigned long long)b + (unsigned long long)c);
}

extern "C" __global__ void gemm(ng_i64 batch, ng_i64 m, ng_i64 n, ng_i64 k, const T *a, ng_i64 a_row, ng_i64 a_column,
                                const ng_dims a_batch, const T *b, ng_i64 b_row, ng_i64 b_column, const ng_dims b_batch,
                                O *out, const T *bias) {
    __shared__ C left[DEPTH][TILE + 1], right[DEPTH][TILE + 1];
    const ng_i64 across = (n + TILE - 1) / TILE, tiles = (m + TILE - 1) / TILE * across;
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    for (ng_i64 at = blockIdx.x; at < tiles * batch; at += gridDim.x) {
        const ng_i64 product = at / tiles, tile = at % tiles;
        const ng_i64 first_row = tile / across * TILE, first_column = tile % across * TILE;
        const T *own_a = a + ng_offset(a_batch, product), *own_b = b + ng_offset(b_batch, product);
        C sums[4][4] = {};
        for (ng_i64 start = 0; start < k; start += DEPTH) {
            for (int step = threadIdx.x; step < TILE * DEPTH; step += 256) {
                // Neighbours in memory go to neighbouring threads.
#if A_TURNED
                const int row = step % TILE, depth = step / TILE;
#else
                const int row = step / DEPTH, depth = step % DEPTH;
#endif
                const bool inside = first_row + row < m && start + depth < k;
                left[depth][row] = inside ? ng_get<C>(own_a[(first_row + row) * a_row + (start + depth) * a_column]) : (C)0;
            }
            for (int step = threadIdx.x; step < TILE * DEPTH; step += 256) {
#if B_TURNED
                const int column = step / DEPTH, depth = step % DEPTH;
#else
                const int column = step % TILE, depth = step / TILE;
#endif
                const bool inside = first_column + column < n && start + depth < k;
                right[depth][column] =
                    inside ? ng_get<C>(own_b[(start + depth) * b_row + (first_column + column) * b_column]) : (C)0;
            }
            __syncthreads();
            for (int depth = 0; depth < DEPTH; depth++) {
                C rows[4], columns[4];
#pragma unroll
                for (int i = 0; i < 4; i++) rows[i] = left[depth][y + 16 * i], columns[i] = right[depth][x + 16 * i];
#pragma unroll
                for (int i = 0; i < 4; i++)
#pragma unroll
                    for (int j = 0; j < 4; j++) sums[i][j] = ng_multiply_add(rows[i], columns[j], sums[i][j]);
            }
            __syncthreads();
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                const ng_i64 row = first_row + y + 16 * i, column = first_column + x + 16 * j;
                if (row >= m || column >= n) continue;
                const C sum = bias ? sums[i][j] + ng_get<C>(bias[column]) : sums[i][j];
                ng_put(out[(product * m + row) * n + column], sum);
            }
    }
}
