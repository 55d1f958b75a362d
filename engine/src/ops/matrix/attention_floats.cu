// Products of tiles of float32. A thread has 4 rows and every eighth column of a tile of scores.

#define LANES 8
#define RUN 1
#define RUN_OUT 4
// Neighbours of a row of shares lie so that the rows of a warp lie in different banks.
#define SHARES_PITCH (STREAM + 8)
#define SHARES_ROOM (64 * SHARES_PITCH)

__device__ inline int ng_dim(int j) { return j / 4 * 32 + threadIdx.x % 8 * 4 + j % 4; }

// `scores += own @ other^T` of rows of so many elements.
template <int WIDE>
__device__ inline void ng_multiply(float (&scores)[4][STREAM / 8], const float *own, const float *other) {
    const float *left = own + (threadIdx.x / 32 * 16 + threadIdx.x % 32 / 8) * (WIDE + 4), *right = other + threadIdx.x % 8 * (WIDE + 4);
#pragma unroll 1
    for (int d = 0; d < WIDE; d += 4) {
        ng_pack<float, 4> x[4];
#pragma unroll
        for (int i = 0; i < 4; i++) x[i] = *(const ng_pack<float, 4> *)(left + i * 4 * (WIDE + 4) + d);
#pragma unroll
        for (int j = 0; j < STREAM / 8; j++) {
            const ng_pack<float, 4> y = *(const ng_pack<float, 4> *)(right + j * 8 * (WIDE + 4) + d);
#pragma unroll
            for (int it = 0; it < 4; it++)
#pragma unroll
                for (int i = 0; i < 4; i++) scores[i][j] = fmaf(x[i].all[it], y.all[it], scores[i][j]);
        }
    }
}

// `sums += shares @ other`. The shares go by `room`, where each warp has rows of its own.
template <int WIDE>
__device__ inline void ng_add_product(float (&sums)[4][WIDE / 8], const float (&shares)[4][STREAM / 8], const float *other, float *room) {
    float *own = room + (threadIdx.x / 32 * 16 + threadIdx.x % 32 / 8) * SHARES_PITCH;
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < STREAM / 8; j++) own[i * 4 * SHARES_PITCH + j * 8 + threadIdx.x % 8] = shares[i][j];
    __syncwarp();
    const float *right = other + threadIdx.x % 8 * 4;
#pragma unroll 1
    for (int at = 0; at < STREAM; at += 4) {
        ng_pack<float, 4> x[4];
#pragma unroll
        for (int i = 0; i < 4; i++) x[i] = *(const ng_pack<float, 4> *)(own + i * 4 * SHARES_PITCH + at);
#pragma unroll
        for (int it = 0; it < 4; it++)
#pragma unroll
            for (int run = 0; run < WIDE / 32; run++) {
                const ng_pack<float, 4> y = *(const ng_pack<float, 4> *)(right + (at + it) * (WIDE + 4) + run * 32);
#pragma unroll
                for (int i = 0; i < 4; i++)
#pragma unroll
                    for (int f = 0; f < 4; f++) sums[i][run * 4 + f] = fmaf(x[i].all[it], y.all[f], sums[i][run * 4 + f]);
            }
    }
    __syncwarp();
}
