// Elements as unsigned numbers in the order of sorting: NaN stands behind all others, and -0.0 is 0.0. DESCENDING turns the order around.
// Names: T elements, BYTES of one, THREADS of a block.

#if BYTES == 8
typedef unsigned long long ng_key;
#else
typedef unsigned ng_key;
#endif

// The key behind which none is.
#define LAST_KEY ((ng_key)-1 >> (sizeof(ng_key) - BYTES) * 8)
// The place of what only fills a block.
#define NO_PLACE 0x7fffffff

__device__ inline unsigned ng_order(ng_bool x) { return x.value != 0; }
__device__ inline unsigned ng_order(ng_u8 x) { return x; }
__device__ inline unsigned ng_order(ng_i8 x) { return (ng_u8)x ^ 0x80u; }
__device__ inline unsigned ng_order(ng_u16 x) { return x; }
__device__ inline unsigned ng_order(ng_i16 x) { return (ng_u16)x ^ 0x8000u; }
__device__ inline unsigned ng_order(ng_i32 x) { return (unsigned)x ^ 0x80000000u; }
__device__ inline unsigned long long ng_order(ng_i64 x) { return (unsigned long long)x ^ 1ull << 63; }

// Of a half whose infinity has these bits.
__device__ inline unsigned ng_order_of_half(unsigned bits, unsigned infinity) {
    const unsigned size = bits & 0x7fffu;
    if (size > infinity) return 0xffffu;
    if (size == 0) return 0x8000u;
    return bits == size ? bits | 0x8000u : ~bits & 0xffffu;
}
__device__ inline unsigned ng_order(ng_f16 x) { return ng_order_of_half(x.bits, 0x7c00u); }
__device__ inline unsigned ng_order(ng_bf16 x) { return ng_order_of_half(x.bits, 0x7f80u); }
__device__ inline unsigned ng_order(float x) {
    const unsigned bits = (unsigned)__float_as_int(x), sign = 0x80000000u;
    if (x != x) return 0xffffffffu;
    if (x == 0) return sign;
    return bits & sign ? ~bits : bits | sign;
}
__device__ inline unsigned long long ng_order(double x) {
    const unsigned long long bits = (unsigned long long)__double_as_longlong(x), sign = 1ull << 63;
    if (x != x) return ~0ull;
    if (x == 0) return sign;
    return bits & sign ? ~bits : bits | sign;
}

__device__ inline ng_key ng_key_of(T x) {
    const ng_key key = ng_order(x);
    return DESCENDING ? LAST_KEY - key : key;
}

// Whether one element stands before another: by key, of equal ones the first.
__device__ inline bool ng_before(ng_key a, int at_a, ng_key b, int at_b) {
    return a < b || (a == b && at_a < at_b);
}

// The sum of what the threads before this one hold. `sums` is shared, a number for each warp.
template <class X>
__device__ inline X ng_sum_before(X own, X *sums) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    X total = own;
    for (int by = 1; by < 32; by *= 2) {
        const X other = __shfl_up_sync(0xffffffffu, total, by);
        if (lane >= by) total += other;
    }
    if (lane == 31) sums[warp] = total;
    __syncthreads();
    for (int other = 0; other < warp; other++) total += sums[other];
    __syncthreads();
    return total - own;
}

// Sorts each PART of `n` keys with their places, all in shared memory, by Batcher's bitonic network; both are powers of 2.
__device__ inline void ng_sort_parts(ng_key *keys, int *places, int n, int part) {
    __syncthreads();
    for (int size = 2; size <= part; size *= 2)
        for (int by = size / 2; by > 0; by /= 2) {
            for (int i = threadIdx.x; i < n / 2; i += THREADS) {
                const int low = 2 * i - (i & (by - 1)), high = low + by;
                const bool up = (low & size & (part - 1)) == 0;
                const ng_key key = keys[low], other = keys[high];
                const int place = places[low], other_place = places[high];
                if (ng_before(other, other_place, key, place) == up) {
                    keys[low] = other, keys[high] = key;
                    places[low] = other_place, places[high] = place;
                }
            }
            // Pairs that are at most 32 apart stay within the 64 elements of a warp.
            if (by > 32 || (by == 1 && size > 32)) __syncthreads();
            else __syncwarp();
        }
    __syncthreads();
}
