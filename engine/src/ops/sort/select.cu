// Finds the first `k` of lines in the order of sorting, without sorting the others: by radix, from the highest digit on, eight bits at a time.
// Keys are followed by places, so no two elements are equal. A block has SPAN elements of a line; the first of lines that are longer are
// those of the firsts of their parts, which is what a block has where LATER. Names: ITEMS of a thread, KEPT a power of 2 with room for `k`.

#define DIGITS 256
#define SPAN (THREADS * ITEMS)

// Digits of keys, then of places.
__device__ inline unsigned ng_digit(ng_key key, int place, int digit) {
    if (digit < BYTES) return (unsigned)(key >> 8 * (BYTES - 1 - digit)) & (DIGITS - 1);
    return (unsigned)place >> 8 * (BYTES + 3 - digit) & (DIGITS - 1);
}

// A digit that elements have, how many have a smaller one, and how many have it.
struct ng_cut {
    unsigned digit, below, here;
};

// What the threads of a block share.
struct ng_selection {
    unsigned counts[DIGITS], sums[THREADS / 32];
    ng_cut cut;
};

// The digit of the element that `need - 1` others stand before.
__device__ inline void ng_find(ng_selection &shared, unsigned need) {
    const int each = DIGITS / THREADS, first = threadIdx.x * each;
    const unsigned *counts = shared.counts;
    unsigned own = 0;
    for (int digit = first; digit < first + each; digit++) own += counts[digit];
    unsigned below = ng_sum_before(own, shared.sums);
    for (int digit = first; digit < first + each; digit++) {
        if (below < need && need <= below + counts[digit]) shared.cut = {(unsigned)digit, below, counts[digit]};
        below += counts[digit];
    }
    __syncthreads();
}

// Which items of this thread are among the first `need` of the `left` ones of the block; `here` says which it has. One bit for each.
__device__ inline unsigned ng_select(const ng_key (&key)[ITEMS], const int (&place)[ITEMS], unsigned here, unsigned left,
                                     unsigned need, ng_selection &shared) {
    unsigned *counts = shared.counts;
    unsigned chosen = 0;
    for (int digit = 0; need < left; digit++) {
        for (int i = threadIdx.x; i < DIGITS; i += THREADS) counts[i] = 0;
        __syncthreads();
#pragma unroll
        for (int j = 0; j < ITEMS; j++)
            if (here >> j & 1u) atomicAdd(&counts[ng_digit(key[j], place[j], digit)], 1u);
        __syncthreads();
        ng_find(shared, need);
        const ng_cut cut = shared.cut;
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            const unsigned own = ng_digit(key[j], place[j], digit);
            if (own < cut.digit) chosen |= here & 1u << j;
            if (own != cut.digit) here &= ~(1u << j);
        }
        need -= cut.below, left = cut.here;
    }
    return chosen | here;
}

// The first `k` of each part, in any order: keys and places, for lines of `to_n`. Where `out` is given there is one part, and its first `k`
// go there in order.
extern "C" __global__ void select_first(ng_i64 outer, ng_i64 n, ng_i64 parts, int k, const T *in, const ng_dims kept, ng_i64 step,
                                        const ng_key *keys, const int *places, ng_i64 to_n, ng_key *to_keys, int *to_places, T *out,
                                        O1 *out_places, const ng_dims out_kept, ng_i64 out_step) {
    __shared__ ng_key first_keys[KEPT];
    __shared__ int first_places[KEPT];
    __shared__ int n_found;
    __shared__ ng_selection shared;
    for (ng_i64 at = blockIdx.x; at < outer * parts; at += gridDim.x) {
        const ng_i64 line = at / parts, start = at % parts * SPAN;
        const int len = (int)(n - start < SPAN ? n - start : SPAN), wanted = k < len ? k : len;
        const T *from = in + ng_offset(kept, line);
        ng_key key[ITEMS];
        int place[ITEMS];
        unsigned here = 0;
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            const int i = j * THREADS + threadIdx.x;
            here |= (unsigned)(i < len) << j;
#if LATER
            key[j] = i < len ? keys[line * n + start + i] : LAST_KEY;
            place[j] = i < len ? places[line * n + start + i] : NO_PLACE;
#else
            key[j] = i < len ? ng_key_of(from[(start + i) * step]) : LAST_KEY;
            place[j] = (int)start + i;
#endif
        }
        if (threadIdx.x == 0) n_found = 0;
        __syncthreads();
        const unsigned chosen = ng_select(key, place, here, len, wanted, shared);
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            if (!(chosen >> j & 1u)) continue;
            const int to = atomicAdd(&n_found, 1);
            first_keys[to] = key[j], first_places[to] = place[j];
        }
        if (out) {
            for (int i = wanted + threadIdx.x; i < KEPT; i += THREADS) first_keys[i] = LAST_KEY, first_places[i] = NO_PLACE;
            ng_sort_parts(first_keys, first_places, KEPT, KEPT);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < wanted; i += THREADS) {
            if (out) {
                const ng_i64 to = ng_offset(out_kept, line) + i * out_step;
                out[to] = from[first_places[i] * step];
                out_places[to] = first_places[i];
            } else {
                const ng_i64 to = line * to_n + at % parts * k + i;
                to_keys[to] = first_keys[i], to_places[to] = first_places[i];
            }
        }
        __syncthreads();
    }
}
