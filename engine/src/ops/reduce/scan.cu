// Combines each element of a line with all before it. Names as in `reduce.cu`; a block goes along a line, EACH elements for each of its 256 threads
// at a time; where PACKED, a thread loads and stores its elements together.

// The largest or smallest so far: of equal ones the last.
template <bool LARGEST>
struct ng_running : ng_best<LARGEST> {
    typedef ng_place Total;
    __device__ static Total both(Total a, Total b) {
        if (a.at < 0) return b;
        if (b.at < 0) return a;
        if (b.value != b.value) return b;
        if (a.value != a.value) return a;
        return ng_best<LARGEST>::wins(a.value, b.value) ? a : b;
    }
    __device__ static Total with(Total a, T x, ng_i64 at, double) { return both(a, Total{ng_get<C>(x), at}); }
};
typedef ng_running<true> ng_running_largest;
typedef ng_running<false> ng_running_smallest;

// y = b + a * y before.
struct ng_linear {
    struct Total {
        C a, b;
    };
    __device__ static Total first() { return {1, 0}; }
    __device__ static Total both(Total x, Total y) { return {x.a * y.a, y.a * x.b + y.b}; }
    template <class A, class B>
    __device__ static void finish(Total x, ng_i64, double, A *out, B *) {
        ng_put(*out, x.b);
    }
};

typedef FOLD::Total ng_total;

// What the thread `by` lanes below has; the lowest lanes keep their own.
__device__ inline ng_total ng_from_below(const ng_total &own, unsigned by) {
    unsigned words[sizeof(ng_total) / 4];
    memcpy(words, &own, sizeof own);
#pragma unroll
    for (int i = 0; i < (int)(sizeof(ng_total) / 4); i++) words[i] = __shfl_up_sync(0xffffffffu, words[i], by);
    ng_total res;
    memcpy(&res, words, sizeof res);
    return res;
}

// All of a warp up to this thread.
__device__ inline ng_total ng_with_below(ng_total own) {
    for (unsigned by = 1; by < 32; by *= 2) {
        const ng_total other = ng_from_below(own, by);
        if (threadIdx.x % 32 >= by) own = FOLD::both(other, own);
    }
    return own;
}

// EACH elements from `at` on, of which `len` are there.
template <class E>
__device__ inline ng_pack<E, EACH> ng_load(const E *from, ng_i64 at, ng_i64 step, ng_i64 len) {
    ng_pack<E, EACH> res;
#if PACKED
    if (len > 0) res = *(const ng_pack<E, EACH> *)(from + at);
#else
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (k < len) res.all[k] = from[at + k * step];
#endif
    return res;
}

template <class E>
__device__ inline void ng_store(E *to, const ng_pack<E, EACH> &all, ng_i64 at, ng_i64 step, ng_i64 len) {
#if PACKED
    if (len > 0) *(ng_pack<E, EACH> *)(to + at) = all;
#else
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (k < len) to[at + k * step] = all.all[k];
#endif
}

extern "C" __global__ void scan(ng_i64 outer, ng_i64 n, const T *in, const T *more, const ng_dims kept, ng_i64 step, O0 *out0,
                                O1 *out1) {
    __shared__ ng_total warps[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (ng_i64 line = blockIdx.x; line < outer; line += gridDim.x) {
        const ng_i64 start = ng_offset(kept, line);
        ng_total carried = FOLD::first();
        for (ng_i64 first = 0; first < n; first += 256 * EACH) {
            const ng_i64 i = first + threadIdx.x * EACH, at = start + i * step, len = n - i;
            const ng_pack<T, EACH> loaded = ng_load(in, at, step, len);
#if LINEAR
            const ng_pack<T, EACH> added = ng_load(more, at, step, len);
#endif
            ng_total totals[EACH], total = FOLD::first();
#pragma unroll
            for (int k = 0; k < EACH; k++) {
#if LINEAR
                if (k < len) total = FOLD::both(total, ng_total{ng_get<C>(loaded.all[k]), ng_get<C>(added.all[k])});
#else
                if (k < len) total = FOLD::with(total, loaded.all[k], i + k, 0);
#endif
                totals[k] = total;
            }
            total = ng_with_below(total);
            if (lane == 31) warps[warp] = total;
            __syncthreads();
            ng_total before = carried;
            for (int other = 0; other < 8; other++) {
                if (other == warp) before = carried;
                carried = FOLD::both(carried, warps[other]);
            }
            total = ng_from_below(total, 1);
            if (lane > 0) before = FOLD::both(before, total);
            ng_pack<O0, EACH> made;
            ng_pack<O1, EACH> places;
#pragma unroll
            for (int k = 0; k < EACH; k++) FOLD::finish(FOLD::both(before, totals[k]), n, 0, made.all + k, places.all + k);
            ng_store(out0, made, at, step, len);
            if (PLACES) ng_store(out1, places, at, step, len);
            __syncthreads();
        }
    }
}
