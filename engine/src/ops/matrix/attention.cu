// Attention without a matrix of scores: a tile of queries goes along the keys, and what it has summed is scaled down whenever a larger
// score turns up (FlashAttention-2, https://arxiv.org/abs/2307.08691, algorithm 1).

extern "C" __launch_bounds__(THREADS, BLOCKS) __global__ void attention(
    const ng_sizes sizes, const ng_matrices query, const ng_matrices key, const ng_matrices value, const ng_matrices mask, T *out,
    float *log_sums) {
    const ng_place place = ng_place_of(sizes, sizes.queries);
    const T *keys = ng_matrix(key, place.at), *values = ng_matrix(value, place.at);
    const T *masks = MASKED ? ng_matrix(mask, place.at) : nullptr;
    // Shares take the place of keys that have been used.
    constexpr int key_room = STREAM * PITCH(WIDTH) > SHARES_ROOM ? STREAM * PITCH(WIDTH) : SHARES_ROOM;
    constexpr int stage = key_room + STREAM * PITCH(VALUES);
    T *own = (T *)ng_shared, *other = own + OWN * PITCH(WIDTH);
    const int end = CAUSAL ? min(sizes.keys, place.first + OWN) : sizes.keys;
    auto load = [&](int start) {
        T *to = other + start / STREAM % STAGES * stage;
        ng_load<STREAM, WIDTH>(to, keys, key.step, start, sizes.keys, sizes.width);
        ng_load<STREAM, VALUES>(to + key_room, values, value.step, start, sizes.keys, sizes.values);
    };
    ng_load<OWN, WIDTH>(own, ng_matrix(query, place.at), query.step, place.first, sizes.queries, sizes.width);
    load(0);
    float most[ROWS], sums[ROWS] = {}, mixed[ROWS][VALUES / LANES] = {};
#pragma unroll
    for (int i = 0; i < ROWS; i++) most[i] = -NG_INFINITY;
    for (int start = 0; start < end; start += STREAM) {
        const T *tile = other + start / STREAM % STAGES * stage;
        ng_fetched();
        __syncthreads();
        if (STAGES > 1 && start + STREAM < end) load(start + STREAM);
        float scores[ROWS][PER_ROW] = {};
        ng_multiply<WIDTH>(scores, own, tile);
        ng_score(scores, sizes, masks, mask.step, place.first, start);
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            float top = most[i];
#pragma unroll
            for (int j = 0; j < PER_ROW; j++) top = fmaxf(top, scores[i][j]);
            top = ng_most(top);
            // Where nothing is seen yet all shares are 0.
            const float shift = top == -NG_INFINITY ? 0.0f : top, by = ng_power_of_two(most[i] - shift);
            most[i] = top;
            sums[i] *= by;
#pragma unroll
            for (int j = 0; j < VALUES / LANES; j++) mixed[i][j] *= by;
#pragma unroll
            for (int j = 0; j < PER_ROW; j++) sums[i] += scores[i][j] = ng_power_of_two(scores[i][j] - shift);
        }
        if (SHARES_ROOM) __syncthreads();
        ng_add_product<VALUES>(mixed, scores, tile + key_room, other);
        if (STAGES == 1 && start + STREAM < end) {
            __syncthreads();
            load(start + STREAM);
        }
    }
    const ng_i64 first = (ng_i64)place.at * sizes.queries;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const float sum = ng_total(sums[i]);
        const int row = place.first + ng_row(i);
        sums[i] = sum == 0.0f ? 0.0f : 1.0f / sum;
        if (ng_lane() == 0 && row < sizes.queries)
            log_sums[first + row] = sum == 0.0f ? -NG_INFINITY : most[i] * LN_2 + ng_log(sum);
    }
    ng_store(out + first * sizes.values, mixed, sums, place.first, sizes.queries, sizes.values);
}
