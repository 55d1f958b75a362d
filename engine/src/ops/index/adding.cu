// Elements added at places that index tensors name. Names as in `index.cu`, and C the type that sums are computed in.

template <class N>
__device__ inline N ng_sum_of(N a, N b) {
    return a + b;
}
template <class N>
__device__ inline N ng_product_of(N a, N b) {
    return a * b;
}
template <class N>
__device__ inline N ng_largest_of(N a, N b) {
    return a != a || a > b ? a : b;
}
template <class N>
__device__ inline N ng_smallest_of(N a, N b) {
    return a != a || a < b ? a : b;
}

// Replaces an element by what `of` makes of it, whole: words of four or eight bytes are exchanged until nobody else was faster.
template <class F>
__device__ inline void ng_change(T *at, F of) {
    if (sizeof(T) == 8) {
        unsigned long long *word = (unsigned long long *)at, before = *word;
        for (;;) {
            T element;
            memcpy(&element, &before, sizeof(T));
            of(element);
            unsigned long long after = 0;
            memcpy(&after, &element, sizeof(T));
            const unsigned long long found = atomicCAS(word, before, after);
            if (found == before) return;
            before = found;
        }
    }
    // Narrow elements share a word with their neighbours.
    const unsigned long long address = (unsigned long long)at;
    unsigned *word = (unsigned *)(address & ~3ull), before = *word;
    const unsigned shift = (unsigned)(address & 3ull) * 8;
    const unsigned mask = sizeof(T) == 4 ? 0xffffffffu : ((1u << sizeof(T) * 8 % 32) - 1) << shift;
    for (;;) {
        const unsigned bits = (before & mask) >> shift;
        T element;
        memcpy(&element, &bits, sizeof(T) < 4 ? sizeof(T) : 4);
        of(element);
        unsigned made = 0;
        memcpy(&made, &element, sizeof(T) < 4 ? sizeof(T) : 4);
        const unsigned found = atomicCAS(word, before, (before & ~mask) | made << shift);
        if (found == before) return;
        before = found;
    }
}

__device__ inline void ng_combine(T *at, T more) {
#if NATIVE
    atomicAdd(at, more);
#else
    ng_change(at, [&](T &element) { ng_put(element, COMBINE(ng_get<C>(element), ng_get<C>(more))); });
#endif
}

extern "C" __global__ void scatter_add(ng_i64 n, T *out, const ng_dims out_dims, ng_i64 step, ng_i64 size, const I *index,
                                       const ng_dims index_dims, const T *src, const ng_dims src_dims, ng_fault *fault) {
    NG_EACH(at, n) {
        const ng_i64 place = ng_place(index[ng_offset(index_dims, at)], size, 0, fault);
        if (place >= 0) ng_combine(out + ng_offset(out_dims, at) + place * step, src[ng_offset(src_dims, at)]);
    }
}

extern "C" __global__ void rows_add(ng_i64 n, T *out, const ng_i64 *rows, ng_i64 row, const T *src, const ng_dims src_dims) {
    NG_EACH(at, n) {
        const ng_i64 to = rows[at / row];
        if (to >= 0) ng_combine(out + to * row + at % row, src[ng_offset(src_dims, at)]);
    }
}
