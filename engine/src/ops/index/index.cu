// Elements picked and placed by index tensors. Names: T elements, I elements of the index.

// Where an index names a place in a dimension of `size`; -1 where it names none, which is noted.
__device__ inline ng_i64 ng_place(I index, ng_i64 size, int from_end, ng_fault *fault) {
    const ng_i64 at = ng_get<ng_i64>(index), place = from_end && at < 0 ? at + size : at;
    if (place >= 0 && place < size) return place;
    ng_refuse(fault, 1u, at);
    return -1;
}

extern "C" __global__ void gather(ng_i64 n, const T *in, const ng_dims in_dims, ng_i64 step, ng_i64 size, const I *index,
                                  const ng_dims index_dims, T *out, ng_fault *fault) {
    NG_EACH(at, n) {
        const ng_i64 place = ng_place(index[ng_offset(index_dims, at)], size, 0, fault);
        out[at] = place < 0 ? T{} : in[ng_offset(in_dims, at) + place * step];
    }
}

// Whole rows, each by a block; T are parts of a row, `row` of them.
extern "C" __global__ void take_rows(ng_i64 n, const T *in, ng_i64 size, ng_i64 row, const I *index, ng_i64 index_step, T *out,
                                     ng_fault *fault) {
    for (ng_i64 at = blockIdx.x; at < n; at += gridDim.x) {
        const ng_i64 place = ng_place(index[at * index_step], size, 0, fault);
        for (ng_i64 i = threadIdx.x; i < row; i += blockDim.x) out[at * row + i] = place < 0 ? T{} : in[place * row + i];
    }
}

// Which of the elements that go to one place comes last: they are counted from 1.
extern "C" __global__ void scatter_last(ng_i64 n, unsigned long long *last, const ng_dims out_dims, ng_i64 step, ng_i64 size,
                                        const I *index, const ng_dims index_dims, ng_fault *fault) {
    NG_EACH(at, n) {
        const ng_i64 place = ng_place(index[ng_offset(index_dims, at)], size, 0, fault);
        if (place >= 0) atomicMax(&last[ng_offset(out_dims, at) + place * step], (unsigned long long)at + 1);
    }
}

extern "C" __global__ void scatter(ng_i64 n, T *out, const unsigned long long *last, const ng_dims out_dims, ng_i64 step,
                                   ng_i64 size, const I *index, const ng_dims index_dims, const T *src,
                                   const ng_dims src_dims, ng_fault *fault) {
    NG_EACH(at, n) {
        const ng_i64 place = ng_place(index[ng_offset(index_dims, at)], size, 0, fault);
        if (place < 0) continue;
        const ng_i64 to = ng_offset(out_dims, at) + place * step;
        if (last[to] == (unsigned long long)at + 1) out[to] = src[ng_offset(src_dims, at)];
    }
}

// Row numbers, dimension after dimension.
extern "C" __global__ void rows(ng_i64 n, ng_i64 *rows, int is_first, ng_i64 size, const I *index, const ng_dims index_dims,
                                ng_fault *fault) {
    NG_EACH(at, n) {
        const ng_i64 place = ng_place(index[ng_offset(index_dims, at)], size, 1, fault);
        const ng_i64 before = is_first ? 0 : rows[at];
        rows[at] = place < 0 || before < 0 ? -1 : before * size + place;
    }
}

extern "C" __global__ void rows_get(ng_i64 n, const T *in, const ng_i64 *rows, ng_i64 row, T *out) {
    NG_EACH(at, n) {
        const ng_i64 from = rows[at / row];
        out[at] = from < 0 ? T{} : in[from * row + at % row];
    }
}

extern "C" __global__ void rows_last(ng_i64 n, const ng_i64 *rows, unsigned long long *last) {
    NG_EACH(at, n) if (rows[at] >= 0) atomicMax(&last[rows[at]], (unsigned long long)at + 1);
}

extern "C" __global__ void rows_put(ng_i64 n, T *out, const unsigned long long *last, const ng_i64 *rows, ng_i64 row,
                                    const T *src, const ng_dims src_dims) {
    NG_EACH(at, n) {
        const ng_i64 to = rows[at / row];
        if (to >= 0 && last[to] == (unsigned long long)(at / row) + 1) out[to * row + at % row] = src[ng_offset(src_dims, at)];
    }
}
