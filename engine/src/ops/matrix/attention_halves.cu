// Products of tiles of halves, by tensor cores, which add up in float32. A thread has 2 rows and pairs of neighbours of a tile of scores.

#define LANES 4
#define RUN 2
#define RUN_OUT 2
#define SHARES_ROOM 0
#define PARTS 2

__device__ inline int ng_dim(int j) { return j / 2 * 8 + threadIdx.x % 4 * 2 + j % 2; }

// `sums += x @ y` for the 8 columns from `column` on.
template <int N>
__device__ inline void ng_multiply_into(float (&sums)[2][N], int column, const unsigned (&x)[4], unsigned y0, unsigned y1) {
    const int at = column / 4;
    float four[4] = {sums[0][at], sums[0][at + 1], sums[1][at], sums[1][at + 1]};
    ng_tensor_multiply(four, x, y0, y1, T{});
    sums[0][at] = four[0], sums[0][at + 1] = four[1], sums[1][at] = four[2], sums[1][at + 1] = four[3];
}

// `scores += own @ other^T` of rows of so many elements.
template <int WIDE>
__device__ inline void ng_multiply(float (&scores)[2][STREAM / 4], const T *own, const T *other) {
    const int lane = threadIdx.x % 32;
    const T *left = own + (threadIdx.x / 32 * 16 + lane % 16) * (WIDE + 8) + lane / 16 * 8;
    const T *right = other + (lane % 8 + lane / 16 * 8) * (WIDE + 8) + lane / 8 % 2 * 8;
#pragma unroll
    for (int d = 0; d < WIDE; d += 16) {
        unsigned x[4];
        ng_load_matrices(x, left + d);
#pragma unroll
        for (int row = 0; row < STREAM; row += 16) {
            unsigned y[4];
            ng_load_matrices(y, right + row * (WIDE + 8) + d);
            ng_multiply_into(scores, row, x, y[0], y[1]);
            ng_multiply_into(scores, row + 8, x, y[2], y[3]);
        }
    }
}

// The nearest half, and what is left of a number behind it.
__device__ inline float ng_take_half(float &x) {
    T half;
    ng_put(half, x);
    const float res = ng_wide(half);
    x -= res;
    return res;
}

// `sums += shares @ other`. What threads hold of the shares is what they need of them. Shares go as the sums of PARTS halves each: one
// alone would round twice what is rounded once, the result.
template <int WIDE>
__device__ inline void ng_add_product(float (&sums)[2][WIDE / 4], const float (&shares)[2][STREAM / 4], const T *other, T *) {
    const int lane = threadIdx.x % 32;
    const T *right = other + lane % 16 * (WIDE + 8) + lane / 16 * 8;
#pragma unroll
    for (int row = 0; row < STREAM; row += 16) {
        unsigned x[PARTS][4];
#pragma unroll
        for (int it = 0; it < 4; it++) {
            const int at = row / 4 + it / 2 * 2;
            float low = shares[it % 2][at], high = shares[it % 2][at + 1];
#pragma unroll
            for (int part = 0; part < PARTS; part++) {
                const float both[2] = {ng_take_half(low), ng_take_half(high)};
                x[part][it] = ng_pair(both[0], both[1], T{});
            }
        }
#pragma unroll
        for (int d = 0; d < WIDE; d += 16) {
            unsigned y[4];
            ng_load_turned(y, right + row * (WIDE + 8) + d);
#pragma unroll
            for (int part = 0; part < PARTS; part++) {
                ng_multiply_into(sums, d, x[part], y[0], y[1]);
                ng_multiply_into(sums, d + 8, x[part], y[2], y[3]);
            }
        }
    }
}
