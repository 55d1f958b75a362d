// Sorts short lines, as many as a block holds: SPAN elements in parts, one line in each.

#define SPAN 1024

// A part has 2^`bits` elements.
extern "C" __global__ void sort_short(int bits, ng_i64 outer, ng_i64 n, ng_i64 k, const T *in, const ng_dims kept, ng_i64 step,
                                      T *out, O1 *out_places, const ng_dims out_kept, ng_i64 out_step) {
    __shared__ ng_key keys[SPAN];
    __shared__ int places[SPAN];
    const int part = 1 << bits, lines = SPAN >> bits;
    for (ng_i64 first = (ng_i64)blockIdx.x * lines; first < outer; first += (ng_i64)gridDim.x * lines) {
        for (int at = threadIdx.x; at < SPAN; at += THREADS) {
            const ng_i64 line = first + (at >> bits);
            const int i = at & (part - 1);
            const bool is_there = line < outer && i < n;
            keys[at] = is_there ? ng_key_of(in[ng_offset(kept, line) + i * step]) : LAST_KEY;
            places[at] = is_there ? i : NO_PLACE;
        }
        ng_sort_parts(keys, places, SPAN, part);
        for (int at = threadIdx.x; at < SPAN; at += THREADS) {
            const ng_i64 line = first + (at >> bits);
            const int i = at & (part - 1);
            if (line >= outer || i >= k) continue;
            const ng_i64 to = ng_offset(out_kept, line) + i * out_step;
            out[to] = in[ng_offset(kept, line) + places[at] * step];
            if (out_places) out_places[to] = places[at];
        }
        __syncthreads();
    }
}
