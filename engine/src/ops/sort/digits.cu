// Sorts lines by the digits of their keys, eight bits at a time, from the lowest on; each pass keeps the order of equal digits. ITEMS are the
// elements of a thread; what a block holds at once is a tile. Blocks of more than one tile follow Adinets and Merrill, "Onesweep: A Faster
// Least Significant Digit Radix Sort for GPUs" (2022): a tile learns from those before it how many of each digit they have, while they run.

#define DIGITS 256
#define WARPS (THREADS / 32)
#define TILE (THREADS * ITEMS)
// Counts of digits that lanes share, so that lanes with the same digit wait less for each other.
#define COPIES (BYTES == 8 ? 2 : 4)

__device__ inline unsigned ng_digit(ng_key key, int pass) { return (unsigned)(key >> 8 * pass) & (DIGITS - 1); }

// Where item `j` of this thread lies in its tile: warps have neighbouring runs, so that the order is that of warps, items, lanes.
__device__ inline int ng_in_tile(int j) { return (threadIdx.x / 32 * ITEMS + j) * 32 + threadIdx.x % 32; }

// The lanes of a warp that have the same digit.
__device__ inline unsigned ng_same_digit(unsigned digit) {
    unsigned same = 0xffffffffu;
#pragma unroll
    for (int bit = 0; bit < 8; bit++) {
        const bool is_set = digit >> bit & 1u;
        const unsigned set = __ballot_sync(0xffffffffu, is_set);
        same &= is_set ? set : ~set;
    }
    return same;
}

// How many before each item of this thread have its digit, in its warp; `counts` are those of the warp then.
__device__ inline void ng_rank(const unsigned (&digits)[ITEMS], unsigned *counts, unsigned (&ranks)[ITEMS]) {
    const unsigned lane = threadIdx.x % 32, lower = (1u << lane) - 1;
    for (int digit = lane; digit < DIGITS; digit += 32) counts[digit] = 0;
    __syncwarp();
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        const unsigned same = ng_same_digit(digits[j]), before = __popc(same & lower);
        const unsigned first = counts[digits[j]];
        __syncwarp();
        if (before == 0) counts[digits[j]] = first + __popc(same);
        __syncwarp();
        ranks[j] = first + before;
    }
}

// How many of the tile have the digit of this thread; the counts of each warp become those of the warps before it.
__device__ inline unsigned ng_count_before(unsigned (&counts)[WARPS][DIGITS]) {
    unsigned total = 0;
    for (int warp = 0; warp < WARPS; warp++) {
        const unsigned here = counts[warp][threadIdx.x];
        counts[warp][threadIdx.x] = total;
        total += here;
    }
    return total;
}

// Sorts lines of at most a tile, a block each.
extern "C" __global__ void sort_tile(ng_i64 outer, ng_i64 n, ng_i64 k, const T *in, const ng_dims kept, ng_i64 step, T *out,
                                     O1 *out_places, const ng_dims out_kept, ng_i64 out_step) {
    __shared__ unsigned counts[WARPS][DIGITS], starts[DIGITS], sums[WARPS];
    __shared__ ng_key keys[TILE];
    __shared__ int places[TILE];
    for (ng_i64 line = blockIdx.x; line < outer; line += gridDim.x) {
        const T *from = in + ng_offset(kept, line);
        ng_key key[ITEMS];
        int place[ITEMS];
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            place[j] = ng_in_tile(j);
            // What only fills the tile comes last, so it stays behind equal keys.
            key[j] = place[j] < n ? ng_key_of(from[place[j] * step]) : LAST_KEY;
        }
        for (int pass = 0; pass < BYTES; pass++) {
            unsigned digits[ITEMS], ranks[ITEMS];
#pragma unroll
            for (int j = 0; j < ITEMS; j++) digits[j] = ng_digit(key[j], pass);
            ng_rank(digits, counts[threadIdx.x / 32], ranks);
            __syncthreads();
            starts[threadIdx.x] = ng_sum_before(ng_count_before(counts), sums);
            __syncthreads();
#pragma unroll
            for (int j = 0; j < ITEMS; j++) {
                const unsigned to = starts[digits[j]] + counts[threadIdx.x / 32][digits[j]] + ranks[j];
                keys[to] = key[j], places[to] = place[j];
            }
            __syncthreads();
#pragma unroll
            for (int j = 0; j < ITEMS; j++) key[j] = keys[ng_in_tile(j)], place[j] = places[ng_in_tile(j)];
        }
        for (int i = threadIdx.x; i < k; i += THREADS) {
            const ng_i64 to = ng_offset(out_kept, line) + i * out_step;
            out[to] = from[places[i] * step];
            if (out_places) out_places[to] = places[i];
        }
        __syncthreads();
    }
}

// Counts the digits of lines for all passes; a line has `parts` blocks. `totals` are 0 before.
extern "C" __global__ void count_digits(ng_i64 n, ng_i64 parts, const T *in, const ng_dims kept, ng_i64 step, unsigned *totals) {
    __shared__ unsigned counts[BYTES][COPIES][DIGITS];
    unsigned *all = &counts[0][0][0];
    for (int i = threadIdx.x; i < BYTES * COPIES * DIGITS; i += THREADS) all[i] = 0;
    __syncthreads();
    const ng_i64 line = blockIdx.x / parts, by = parts * THREADS;
    const T *from = in + ng_offset(kept, line);
    for (ng_i64 first = blockIdx.x % parts * THREADS + threadIdx.x; first < n; first += 4 * by) {
        T loaded[4];
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (first + j * by < n) loaded[j] = from[(first + j * by) * step];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (first + j * by >= n) break;
            const ng_key key = ng_key_of(loaded[j]);
#pragma unroll
            for (int pass = 0; pass < BYTES; pass++) atomicAdd(&counts[pass][threadIdx.x % COPIES][ng_digit(key, pass)], 1u);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BYTES * DIGITS; i += THREADS) {
        unsigned total = 0;
        for (int copy = 0; copy < COPIES; copy++) total += counts[i / DIGITS][copy][i % DIGITS];
        if (total) atomicAdd(totals + line * BYTES * DIGITS + i, total);
    }
}

// What a tile tells of one digit: 0 for nothing yet, how many it has and 1, or how many it and all before it have.
#define WITH_ALL_BEFORE 0x80000000u

// Tells how many of a digit this tile has.
__device__ inline void ng_tell(volatile unsigned *state, bool is_first, unsigned own) {
    *state = is_first ? own | WITH_ALL_BEFORE : own + 1;
}

// How many of a digit the tiles before this one have, which then tells it.
__device__ inline unsigned ng_look_back(volatile unsigned *state, bool is_first, unsigned own) {
    if (is_first) return 0;
    unsigned earlier = 0, told = 0;
    for (const volatile unsigned *other = state - DIGITS; !(told & WITH_ALL_BEFORE); other -= DIGITS) {
        do told = *other;
        while (told == 0);
        earlier += told & WITH_ALL_BEFORE ? told & ~WITH_ALL_BEFORE : told - 1;
    }
    *state = (earlier + own) | WITH_ALL_BEFORE;
    return earlier;
}

// One pass over lines of `tiles` tiles each. Elements come from `in`, with places of their own or those of `places`; they go to `to`, with
// places in `to_places` or, when it is the last pass, in `out_places`. `states` and `next` are 0 before; a block takes its tile when it
// starts, so those that it waits for have started, too.
extern "C" __global__ void sort_digit(ng_i64 n, ng_i64 tiles, ng_i64 k, int pass, const T *in, const ng_dims kept, ng_i64 step,
                                      const int *places, T *to, int *to_places, O1 *out_places, const ng_dims to_kept,
                                      ng_i64 to_step, const unsigned *totals, unsigned *states, unsigned *next) {
    __shared__ unsigned counts[WARPS][DIGITS], starts[DIGITS], shifts[DIGITS], taken;
    __shared__ unsigned long long sums[WARPS];
    __shared__ T staged[TILE];
    __shared__ int staged_places[TILE];
    if (threadIdx.x == 0) taken = atomicAdd(next, 1u);
    __syncthreads();
    const ng_i64 line = taken / tiles, first = taken % tiles * TILE;
    const int len = (int)(n - first < TILE ? n - first : TILE), warp = threadIdx.x / 32;
    const T *from = in + ng_offset(kept, line);
    T element[ITEMS];
    int place[ITEMS];
    unsigned digits[ITEMS], ranks[ITEMS];
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        const ng_i64 at = first + ng_in_tile(j);
        // What only fills the tile comes last and has the last digit, so it stays behind the others.
        if (at < n) element[j] = from[at * step], place[j] = places ? places[line * n + at] : (int)at;
        digits[j] = at < n ? ng_digit(ng_key_of(element[j]), pass) : DIGITS - 1;
    }
    ng_rank(digits, counts[warp], ranks);
    __syncthreads();
    const unsigned digit = threadIdx.x, count = ng_count_before(counts);
    const unsigned own = digit == DIGITS - 1 ? count - (TILE - len) : count;
    volatile unsigned *state = states + (ng_i64)taken * DIGITS + digit;
    ng_tell(state, first == 0, own);
    // Where the digit starts: in the line, and in the tile.
    const unsigned long long total = totals[(line * BYTES + pass) * DIGITS + digit];
    const unsigned long long start = ng_sum_before(total << 32 | count, sums);
    starts[digit] = (unsigned)start;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < ITEMS; j++) {
        const unsigned slot = starts[digits[j]] + counts[warp][digits[j]] + ranks[j];
        if (first + ng_in_tile(j) < n) staged[slot] = element[j], staged_places[slot] = place[j];
    }
    shifts[digit] = (unsigned)(start >> 32) + ng_look_back(state, first == 0, own) - (unsigned)start;
    __syncthreads();
    const ng_i64 to_first = ng_offset(to_kept, line);
    for (int slot = threadIdx.x; slot < len; slot += THREADS) {
        const T x = staged[slot];
        const ng_i64 at = shifts[ng_digit(ng_key_of(x), pass)] + (unsigned)slot;
        if (at >= k) continue;
        to[to_first + at * to_step] = x;
        if (to_places) to_places[line * n + at] = staged_places[slot];
        if (out_places) out_places[to_first + at * to_step] = staged_places[slot];
    }
}
