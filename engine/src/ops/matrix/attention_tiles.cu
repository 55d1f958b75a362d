// What the kernels of attention share. A block of 4 warps has a tile of 64 rows, its own, of which each warp has 16, and goes through
// tiles of STREAM rows of the other side: keys, or queries where BY_KEYS is 1. Names: T elements, WIDTH and VALUES the widths of queries
// and values, filled up to what the products take; PACKED whether rows are loaded and stored 16 bytes at a time; STAGES tiles of the other
// side that are held at once; CAUSAL and MASKED, what is hidden.
//
// A pair of rows has a score; those of a warp's rows with a tile lie in its threads. LANES threads lie along a row and hold runs of
// RUN neighbours each; PER_ROW is what a thread holds of a row of scores.

#define OWN 64
#define THREADS 128
#define PACK (16 / (int)sizeof(T))
#define PITCH(width) ((width) + PACK)
#define ROWS (LANES / 2)
#define PER_ROW (STREAM / LANES)
#define LOG2_E 1.44269504088896341f
#define LN_2 0.693147180559945309f

// Matrices of a batch: where the first begins, elements from one row to the next, where the matrix of each of the batch is.
struct ng_matrices {
    const T *first;
    ng_i64 step;
    ng_dims batch;
};

struct ng_sizes {
    int batch, queries, keys, width, values;
    // Of the batch those whose tiles come together.
    int together;
    float scale;
    // Of the mask, from one key to the next.
    int mask_step;
};

// Which of the batch a block works on, and the first of its rows. With a triangle the tiles with the most work come first.
struct ng_place {
    int at, first;
};

__device__ inline ng_place ng_place_of(const ng_sizes &sizes, int rows) {
    const int tiles = (rows + OWN - 1) / OWN;
    const int group = (int)blockIdx.x / (sizes.together * tiles), rest = (int)blockIdx.x % (sizes.together * tiles);
    const int members = min(sizes.together, sizes.batch - group * sizes.together), tile = rest / members;
    return {group * sizes.together + rest % members, (CAUSAL && !BY_KEYS ? tiles - 1 - tile : tile) * OWN};
}

__device__ inline const T *ng_matrix(const ng_matrices &all, int at) { return all.first + ng_offset(all.batch, at); }

__device__ inline int ng_lane() { return threadIdx.x % LANES; }
// Of a tile, the row and the column of what a thread holds.
__device__ inline int ng_row(int i) { return threadIdx.x / 32 * 16 + threadIdx.x % 32 / LANES + 32 / LANES * i; }
__device__ inline int ng_column(int j) { return j / RUN * (LANES * RUN) + ng_lane() * RUN + j % RUN; }

// Rows of a matrix from `first` on into shared memory, zeros around them. Waited for with `ng_fetched`.
template <int COUNT, int WIDE>
__device__ inline void ng_load(T *to, const T *from, ng_i64 step, int first, int rows, int width) {
    constexpr int chunks = WIDE / PACK, at_once = THREADS / chunks;
    const int begin = threadIdx.x / chunks, column = threadIdx.x % chunks * PACK;
    if (begin >= at_once) return;
    T *place = to + begin * PITCH(WIDE) + column;
    const T *source = from + (first + begin) * step + column;
#pragma unroll 1
    for (int row = begin; row < COUNT; row += at_once) {
        const bool inside = first + row < rows;
#if PACKED
        const bool taken = inside && column < width;
        ng_fetch<16>(place, taken ? source : from, taken);
#else
        ng_pack<T, PACK> made = {};
        for (int it = 0; it < PACK; it++)
            if (inside && column + it < width) made.all[it] = source[it];
        *(ng_pack<T, PACK> *)place = made;
#endif
        place += at_once * PITCH(WIDE), source += at_once * step;
    }
}

// The most, or the sum, of what the threads along a row hold.
__device__ inline float ng_most(float x) {
#pragma unroll
    for (int by = 1; by < LANES; by *= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, by));
    return x;
}
__device__ inline float ng_total(float x) {
#pragma unroll
    for (int by = 1; by < LANES; by *= 2) x += __shfl_xor_sync(0xffffffffu, x, by);
    return x;
}

// Products become scores, as powers of two: scaled, with the mask, minus infinity where nothing is seen.
__device__ inline void ng_score(float (&scores)[ROWS][PER_ROW], const ng_sizes &sizes, const T *mask, ng_i64 mask_row,
                                int first, int start) {
    const int ends = BY_KEYS ? sizes.queries : sizes.keys;
    const bool below = BY_KEYS ? start >= first + OWN - 1 : start + STREAM - 1 <= first;
    const bool whole = start + STREAM <= ends && (!CAUSAL || below) && !MASKED;
    const float scale = sizes.scale * LOG2_E;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < PER_ROW; j++) scores[i][j] *= scale;
    if (whole) return;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int row = first + ng_row(i);
#pragma unroll
        for (int j = 0; j < PER_ROW; j++) {
            const int column = start + ng_column(j), query = BY_KEYS ? column : row, key = BY_KEYS ? row : column;
            const bool seen = query < sizes.queries && key < sizes.keys && (!CAUSAL || key <= query);
            if (!seen) scores[i][j] = -NG_INFINITY;
#if MASKED
            else scores[i][j] = fmaf(ng_get<float>(mask[query * mask_row + (ng_i64)key * sizes.mask_step]), LOG2_E, scores[i][j]);
#endif
        }
    }
}

// Rows of a result, which lie one behind the other: what the threads hold times `by`.
template <int DIMS>
__device__ inline void ng_store(T *to, const float (&sums)[ROWS][DIMS], const float (&by)[ROWS], int first, int rows, int width) {
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int row = first + ng_row(i);
        if (row >= rows) continue;
        T *line = to + (ng_i64)row * width;
#pragma unroll
        for (int j = 0; j < DIMS; j += RUN_OUT) {
            const int column = ng_dim(j);
            ng_pack<T, RUN_OUT> made;
#pragma unroll
            for (int it = 0; it < RUN_OUT; it++) ng_put(made.all[it], sums[i][j + it] * by[i]);
#if PACKED
            if (column < width) *(ng_pack<T, RUN_OUT> *)(line + column) = made;
#else
            for (int it = 0; it < RUN_OUT; it++)
                if (column + it < width) line[column + it] = made.all[it];
#endif
        }
    }
}
