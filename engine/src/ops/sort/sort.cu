// Sorts lines of elements, each with where it came from: runs of 1024 in the memory of a block, then runs are merged in pairs, where each
// element finds its place by how many of the other run stand before it. Equal elements stay in order.

#define RUN 1024

// NaN stands behind all numbers, before them where the order is descending.
__device__ inline bool ng_less(C a, C b) {
    if (a != a || b != b) return DESCENDING ? a != a && b == b : a == a && b != b;
    return DESCENDING ? a > b : a < b;
}

__device__ inline bool ng_before(C a, int at_a, C b, int at_b) {
    if (ng_less(a, b)) return true;
    if (ng_less(b, a)) return false;
    return at_a < at_b;
}

extern "C" __global__ void sort_runs(ng_i64 outer, ng_i64 n, const T *in, const ng_dims kept, ng_i64 step, C *keys, int *places) {
    __shared__ C key[RUN];
    __shared__ int place[RUN];
    const ng_i64 n_runs = (n + RUN - 1) / RUN;
    for (ng_i64 at = blockIdx.x; at < outer * n_runs; at += gridDim.x) {
        const ng_i64 line = at / n_runs, first = at % n_runs * RUN;
        const int len = (int)(n - first < RUN ? n - first : RUN);
        const T *from = in + ng_offset(kept, line);
        for (int i = threadIdx.x; i < RUN; i += 256) {
            key[i] = i < len ? ng_get<C>(from[(first + i) * step]) : (C)0;
            // What is only there to fill the run stands behind everything.
            place[i] = i < len ? (int)(first + i) : -1;
        }
        __syncthreads();
        for (int size = 2; size <= RUN; size *= 2)
            for (int by = size / 2; by > 0; by /= 2) {
                for (int i = threadIdx.x; i < RUN / 2; i += 256) {
                    const int low = i / by * by * 2 + i % by, high = low + by;
                    const bool up = (low & size) == 0;
                    const bool swaps = place[low] < 0    ? place[high] >= 0
                                       : place[high] < 0 ? false
                                                         : ng_before(key[high], place[high], key[low], place[low]);
                    const bool other = place[high] < 0    ? place[low] >= 0
                                       : place[low] < 0 ? false
                                                        : ng_before(key[low], place[low], key[high], place[high]);
                    if (up ? swaps : other) {
                        const C k = key[low];
                        const int p = place[low];
                        key[low] = key[high], place[low] = place[high];
                        key[high] = k, place[high] = p;
                    }
                }
                __syncthreads();
            }
        for (int i = threadIdx.x; i < len; i += 256) {
            keys[line * n + first + i] = key[i];
            places[line * n + first + i] = place[i];
        }
        __syncthreads();
    }
}

extern "C" __global__ void merge_runs(ng_i64 outer, ng_i64 n, ng_i64 run, const C *keys, const int *places, C *to_keys,
                                      int *to_places) {
    NG_EACH(at, outer * n) {
        const ng_i64 line = at / n * n, i = at % n, own = i / run * run, pair = own / (2 * run) * 2 * run;
        const ng_i64 other = own == pair ? pair + run : pair;
        const ng_i64 end = other + run < n ? other + run : n;
        const C key = keys[at];
        const int place = places[at];
        ng_i64 low = other < n ? other : n, high = end > low ? end : low;
        const ng_i64 start = low;
        while (low < high) {
            const ng_i64 middle = (low + high) / 2;
            if (ng_before(keys[line + middle], places[line + middle], key, place)) low = middle + 1;
            else high = middle;
        }
        const ng_i64 to = line + pair + (i - own) + (low - start);
        to_keys[to] = key;
        to_places[to] = place;
    }
}

// The first `k` of each line, and where they came from.
extern "C" __global__ void sorted(ng_i64 total, ng_i64 n, ng_i64 k, const int *places, const T *in, const ng_dims kept,
                                  ng_i64 step, T *out, O1 *out_places, const ng_dims out_kept, ng_i64 out_step) {
    NG_EACH(at, total) {
        const ng_i64 line = at / k, i = at % k, place = places[line * n + i];
        const ng_i64 to = ng_offset(out_kept, line) + i * out_step;
        out[to] = in[ng_offset(kept, line) + place * step];
        if (out_places) out_places[to] = place;
    }
}

// How many of its sorted line stand before each value, with equal ones where `right`.
extern "C" __global__ void searchsorted(ng_i64 total, ng_i64 n, ng_i64 each, const T *lines, const T *values, int right, O1 *out) {
    NG_EACH(at, total) {
        const T *line = lines + at / each * n;
        const C x = ng_get<C>(values[at]);
        ng_i64 low = 0, high = n;
        while (low < high) {
            const ng_i64 middle = (low + high) / 2;
            const C here = ng_get<C>(line[middle]);
            if (right ? !ng_less(x, here) : ng_less(here, x)) low = middle + 1;
            else high = middle;
        }
        out[at] = low;
    }
}
