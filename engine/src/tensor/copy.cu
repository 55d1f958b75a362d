// Elements from where some dimensions say to where others say.
extern "C" __global__ void copy(ng_i64 n, const T *from, const ng_dims source, T *to, const ng_dims target) {
    NG_EACH(at, n) to[ng_offset(target, at)] = from[ng_offset(source, at)];
}

// Matrices that lie by columns, written by rows: a tile of 32 x 32 goes through the memory of a block, so that neighbours are read and written
// together. `outer` matrices of `rows` x `columns`; a step from column to column is `across` there, and one from row to row `down` here.
extern "C" __global__ void turn(ng_i64 outer, ng_i64 rows, ng_i64 columns, const T *from, const ng_dims source, ng_i64 across,
                                T *to, const ng_dims target, ng_i64 down) {
    __shared__ T tile[32][33];
    const ng_i64 wide = (columns + 31) / 32, tiles = (rows + 31) / 32 * wide;
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
    for (ng_i64 at = blockIdx.x; at < outer * tiles; at += gridDim.x) {
        const ng_i64 matrix = at / tiles, row = at % tiles / wide * 32, column = at % tiles % wide * 32;
        const T *own = from + ng_offset(source, matrix);
        T *made = to + ng_offset(target, matrix);
        for (int i = y; i < 32; i += 8)
            if (column + i < columns && row + x < rows) tile[i][x] = own[(column + i) * across + row + x];
        __syncthreads();
        for (int i = y; i < 32; i += 8)
            if (row + i < rows && column + x < columns) made[(row + i) * down + column + x] = tile[x][i];
        __syncthreads();
    }
}
