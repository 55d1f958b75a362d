// Gradients of attention: the scores of a tile are computed once more, and the shares are what they are above the sums that were kept
// (FlashAttention-2, https://arxiv.org/abs/2307.08691, algorithm 2). Each block adds up the gradient of its own rows, so no sum depends
// on which block is faster. Tiles of queries (BY_KEYS 0) give the gradient of queries, and note the sums of `grad * output`; tiles of keys
// (BY_KEYS 1), which come later and read these, give those of keys and values.

// The sum of `grad * output` of a query, by the threads along its row.
__device__ inline float ng_mean(const T *grad, const T *out, int width) {
    float sum = 0;
    for (int at = ng_lane() * PACK; at < width; at += LANES * PACK) {
#if PACKED
        const ng_pack<T, PACK> x = *(const ng_pack<T, PACK> *)(grad + at), y = *(const ng_pack<T, PACK> *)(out + at);
#pragma unroll
        for (int it = 0; it < PACK; it++) sum = fmaf(ng_get<float>(x.all[it]), ng_get<float>(y.all[it]), sum);
#else
        for (int it = at; it < min(at + PACK, width); it++) sum = fmaf(ng_get<float>(grad[it]), ng_get<float>(out[it]), sum);
#endif
    }
    return ng_total(sum);
}

// What is taken off the score of a query, as a power of two: all of it where the query sees nothing.
__device__ inline float ng_shift(float log_sum) { return log_sum == -NG_INFINITY ? NG_INFINITY : log_sum * LOG2_E; }

extern "C" __launch_bounds__(THREADS, BLOCKS) __global__ void attention_backward(
    const ng_sizes sizes, const ng_matrices grad, const ng_matrices query, const ng_matrices key, const ng_matrices value,
    const ng_matrices out, const ng_matrices mask, const float *log_sums, float *means, T *of_first, T *of_values) {
    const int own_rows = BY_KEYS ? sizes.keys : sizes.queries, other_rows = BY_KEYS ? sizes.queries : sizes.keys;
    const ng_place place = ng_place_of(sizes, own_rows);
    const ng_matrices &first_own = BY_KEYS ? key : query, &second_own = BY_KEYS ? value : grad;
    const ng_matrices &first_other = BY_KEYS ? query : key, &second_other = BY_KEYS ? grad : value;
    const T *first_rows = ng_matrix(first_other, place.at), *second_rows = ng_matrix(second_other, place.at);
    const T *masks = MASKED ? ng_matrix(mask, place.at) : nullptr;
    const float *own_sums = log_sums + (ng_i64)place.at * sizes.queries;
    float *own_means = means + (ng_i64)place.at * sizes.queries;
    constexpr int first_room = STREAM * PITCH(WIDTH), stage = first_room + STREAM * PITCH(VALUES);
    T *first_tile = (T *)ng_shared, *second_tile = first_tile + OWN * PITCH(WIDTH), *other = second_tile + OWN * PITCH(VALUES);
    T *room = other + STAGES * stage;
    // By stages, sums and means of the tile's queries.
    float *notes = (float *)(room + SHARES_ROOM);
    auto load = [&](int start) {
        const int at = start / STREAM % STAGES;
        T *to = other + at * stage;
        ng_load<STREAM, WIDTH>(to, first_rows, first_other.step, start, other_rows, sizes.width);
        ng_load<STREAM, VALUES>(to + first_room, second_rows, second_other.step, start, other_rows, sizes.values);
        if (BY_KEYS && threadIdx.x < 2 * STREAM) {
            const int row = start + threadIdx.x % STREAM;
            const float *from = threadIdx.x < STREAM ? own_sums : own_means;
            ng_fetch<4>(notes + at * 2 * STREAM + threadIdx.x, row < other_rows ? from + row : from, row < other_rows);
        }
    };
    const int begin = CAUSAL && BY_KEYS ? place.first / STREAM * STREAM : 0;
    const int end = CAUSAL && !BY_KEYS ? min(other_rows, place.first + OWN) : other_rows;
    ng_load<OWN, WIDTH>(first_tile, ng_matrix(first_own, place.at), first_own.step, place.first, own_rows, sizes.width);
    ng_load<OWN, VALUES>(second_tile, ng_matrix(second_own, place.at), second_own.step, place.first, own_rows, sizes.values);
    if (begin < end) load(begin);
    float shifts[ROWS], centres[ROWS];
#if !BY_KEYS
    const T *grads = ng_matrix(grad, place.at), *outs = ng_matrix(out, place.at);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int row = place.first + ng_row(i), near = min(row, own_rows - 1);
        centres[i] = ng_mean(grads + near * grad.step, outs + near * out.step, sizes.values);
        shifts[i] = ng_shift(own_sums[near]);
        if (ng_lane() == 0 && row < own_rows) own_means[row] = centres[i];
    }
#endif
    float of_own[ROWS][WIDTH / LANES] = {};
#if BY_KEYS
    float of_value[ROWS][VALUES / LANES] = {};
#endif
    for (int start = begin; start < end; start += STREAM) {
        const int at = start / STREAM % STAGES;
        const T *tile = other + at * stage;
        ng_fetched();
        __syncthreads();
        if (STAGES > 1 && start + STREAM < end) load(start + STREAM);
        float shares[ROWS][PER_ROW] = {}, slopes[ROWS][PER_ROW] = {};
        ng_multiply<WIDTH>(shares, first_tile, tile);
        ng_score(shares, sizes, masks, mask.step, place.first, start);
        ng_multiply<VALUES>(slopes, second_tile, tile + first_room);
#pragma unroll
        for (int j = 0; j < PER_ROW; j++) {
            const float *note = notes + at * 2 * STREAM + ng_column(j);
            const float shift = BY_KEYS ? ng_shift(note[0]) : 0.0f, centre = BY_KEYS ? note[STREAM] : 0.0f;
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                shares[i][j] = ng_power_of_two(shares[i][j] - (BY_KEYS ? shift : shifts[i]));
                slopes[i][j] = shares[i][j] * (slopes[i][j] - (BY_KEYS ? centre : centres[i]));
            }
        }
#if BY_KEYS
        ng_add_product<VALUES>(of_value, shares, tile + first_room, room);
#endif
        ng_add_product<WIDTH>(of_own, slopes, tile, room);
        if (STAGES == 1 && start + STREAM < end) {
            __syncthreads();
            load(start + STREAM);
        }
    }
    float by[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; i++) by[i] = sizes.scale;
    const ng_i64 first = (ng_i64)place.at * own_rows;
    ng_store(of_first + first * sizes.width, of_own, by, place.first, own_rows, sizes.width);
#if BY_KEYS
#pragma unroll
    for (int i = 0; i < ROWS; i++) by[i] = 1.0f;
    ng_store(of_values + first * sizes.values, of_value, by, place.first, own_rows, sizes.values);
#endif
}
