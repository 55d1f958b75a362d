// Elements padded and cut. T is a type of elements that are only moved.

// Where position `at` of a padded dimension comes from; -1 for what is filled. `kept` is what cutting leaves of the dimension.
__device__ inline ng_i64 ng_source(ng_i64 at, ng_i64 size, ng_i64 kept_first, ng_i64 kept_end) {
#if MODE == 3
    const ng_i64 n = kept_end - kept_first;
    if (n <= 0) return -1;
    const ng_i64 round = (at - kept_first) % n;
    return kept_first + (round < 0 ? round + n : round);
#else
    if (at >= 0 && at < size) return at;
#if MODE == 1
    return at < 0 ? -at : 2 * (size - 1) - at;
#elif MODE == 2
    return at < 0 ? 0 : size - 1;
#else
    return -1;
#endif
#endif
}

// `out` has the sizes of the result and the strides of the input, `in` the sizes of the input and what comes before it, `kept` what cutting
// leaves.
extern "C" __global__ void pad(ng_i64 n, const T *from, const ng_dims out, const ng_dims in, const ng_dims kept, T *to,
                               const T value) {
    NG_EACH(at, n) {
        ng_i64 rest = at, offset = 0;
        bool filled = false;
        for (int dim = out.rank - 1; dim >= 0; dim--) {
            const ng_i64 next = rest / out.sizes[dim], here = rest - next * out.sizes[dim];
            const ng_i64 source = ng_source(here - in.strides[dim], in.sizes[dim], kept.sizes[dim], kept.strides[dim]);
            filled = filled || source < 0;
            offset += source * out.strides[dim];
            rest = next;
        }
        to[at] = filled ? value : from[offset];
    }
}

extern "C" __global__ void triangle(ng_i64 n, const T *from, T *to, ng_i64 rows, ng_i64 columns, ng_i64 diagonal,
                                    int is_lower) {
    NG_EACH(at, n) {
        const ng_i64 beyond = at % columns - at / columns % rows;
        to[at] = (is_lower ? beyond <= diagonal : beyond >= diagonal) ? from[at] : T{};
    }
}
