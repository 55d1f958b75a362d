// Eigenvalues and singular values by Jacobi's rotations: a block for each matrix. A sweep turns all pairs once, in rounds of pairs that have
// no index in common.

#define SWEEPS 24

// Pair `t` of a round of `n` indices; one that is not there is at least `n`.
__device__ inline void ng_pair(int n, int round, int t, int &p, int &q) {
    const int players = n + n % 2, others = players - 1;
    const int first = t == 0 ? 0 : 1 + (t - 1 + round) % others, second = 1 + (players - 2 - t + round) % others;
    p = first < second ? first : second, q = first < second ? second : first;
}

// Cosine and sine of the angle with tan(2 angle) = 2 product / difference.
__device__ inline void ng_angle(T difference, T product, T &c, T &s) {
    c = 1, s = 0;
    if (product == 0) return;
    const T ratio = difference / (2 * product), size = ng_fabs(ratio);
    // The square of a large ratio is more than there is.
    const T root = size > (T)1e15f ? size : ng_sqrt(1 + ratio * ratio);
    const T tangent = (ratio < 0 ? (T)-1 : (T)1) / (size + root);
    c = 1 / ng_sqrt(1 + tangent * tangent), s = tangent * c;
}

__device__ inline void ng_turn(T &x, T &y, T c, T s) {
    const T before = x;
    x = c * before - s * y, y = s * before + c * y;
}

// 1, or -1 where the first of those `n` elements that are as large as the largest but for rounding is negative.
__device__ inline T ng_sign_of(const T *x, int n, int step) {
    T most = 0;
    for (int i = 0; i < n; i++) most = ng_larger::of(ng_fabs(x[i * step]), most);
    for (int i = 0; i < n; i++)
        if (ng_fabs(x[i * step]) >= (T)0.99f * most) return x[i * step] < 0 ? (T)-1 : (T)1;
    return 1;
}

// Ascending eigenvalues of symmetric matrices, of which one triangle is read, and vectors as columns.
extern "C" __global__ void symmetric(ng_i64 count, int n, int upper, const T *in, T *works, T *bases, T *all_turns, T *all_values, T *all_vectors,
                                     int *info) {
    const int half = (n + 1) / 2, down = upper ? 1 : n, right = upper ? n : 1;
    NG_MATRICES(at, count) {
        const T *a = in + at * n * n;
        T *w = works + at * n * n, *v = bases + at * n * n, *turns = all_turns + at * 2 * half;
        T *values = all_values + at * n, *vectors = all_vectors + at * n * n;
        NG_SHARE(e, n * n) {
            const int i = e / n, j = e % n;
            w[e] = j <= i ? a[i * down + j * right] : a[j * down + i * right];
            v[e] = i == j;
        }
        __syncthreads();
        const T scale = ng_scale_of(w, n * n);
        if (threadIdx.x == 0) info[at] = scale < 0;
        if (scale < 0) {
            NG_SHARE(e, n * n) vectors[e] = NG_NOT_A_NUMBER;
            NG_SHARE(i, n) values[i] = NG_NOT_A_NUMBER;
            __syncthreads();
            continue;
        }
        NG_SHARE(e, n * n) w[e] /= scale;
        __syncthreads();
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            T off = 0, all = 0;
            NG_SHARE(e, n * n) {
                all += w[e] * w[e];
                if (e / n != e % n) off += w[e] * w[e];
            }
            off = ng_of_all<ng_added>(off), all = ng_of_all<ng_added>(all);
            if (off <= EPS * EPS * all * n) break;
            for (int round = 0; round < 2 * half - 1; round++) {
                NG_SHARE(t, half) {
                    int p, q;
                    ng_pair(n, round, t, p, q);
                    if (q < n) ng_angle(w[q * n + q] - w[p * n + p], w[p * n + q], turns[2 * t], turns[2 * t + 1]);
                }
                __syncthreads();
                NG_SHARE(e, half * n) {
                    int p, q;
                    ng_pair(n, round, e / n, p, q);
                    const int j = e % n, t = e / n;
                    if (q < n) ng_turn(w[p * n + j], w[q * n + j], turns[2 * t], turns[2 * t + 1]);
                }
                __syncthreads();
                NG_SHARE(e, half * n) {
                    int p, q;
                    ng_pair(n, round, e % half, p, q);
                    const int j = e / half, t = e % half;
                    if (q >= n) continue;
                    ng_turn(w[j * n + p], w[j * n + q], turns[2 * t], turns[2 * t + 1]);
                    ng_turn(v[j * n + p], v[j * n + q], turns[2 * t], turns[2 * t + 1]);
                }
                __syncthreads();
            }
        }
        NG_SHARE(i, n) {
            const T own = w[i * n + i], sign = ng_sign_of(v + i, n, n);
            int rank = 0;
            for (int j = 0; j < n; j++) rank += w[j * n + j] < own || (w[j * n + j] == own && j < i);
            values[rank] = own * scale;
            for (int j = 0; j < n; j++) vectors[j * n + rank] = sign * v[j * n + i];
        }
        __syncthreads();
    }
}

// Turns the columns of a matrix with more rows than columns, or the rows of one with more columns, until they are at right angles: `k` lines of
// `len` elements. Gives their lengths, descending, the lines as columns in that order, and the rotations as rows.
extern "C" __global__ void turned(ng_i64 count, int m, int n, const T *in, T *all_lines, T *all_bases, T *all_lengths, T *all_values, T *all_columns,
                                  T *all_rows, int *info) {
    __shared__ int changes;
    const int k = m < n ? m : n, len = m < n ? n : m, half = (k + 1) / 2;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    NG_MATRICES(at, count) {
        const T *a = in + at * m * n;
        T *g = all_lines + at * m * n, *v = all_bases + at * k * k, *lengths = all_lengths + at * k;
        T *columns = all_columns + at * m * n, *rows = all_rows + at * k * k, *values = all_values + at * k;
        const T scale = ng_scale_of(a, m * n);
        if (threadIdx.x == 0) info[at] = scale < 0;
        NG_SHARE(e, m * n) {
            const int i = e / len, j = e % len;
            g[e] = scale < 0 ? (T)0 : a[m < n ? i * n + j : j * n + i] / scale;
        }
        NG_SHARE(e, k * k) v[e] = e / k == e % k;
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            __syncthreads();
            if (threadIdx.x == 0) changes = 0;
            __syncthreads();
            for (int round = 0; round < 2 * half - 1; round++) {
                for (int t = warp; t < half; t += THREADS / 32) {
                    int p, q;
                    ng_pair(k, round, t, p, q);
                    if (q >= k) continue;
                    T *x = g + p * len, *y = g + q * len;
                    T xx = 0, yy = 0, xy = 0;
                    for (int j = lane; j < len; j += 32) xx += x[j] * x[j], yy += y[j] * y[j], xy += x[j] * y[j];
                    for (int by = 16; by > 0; by /= 2) {
                        xx += __shfl_xor_sync(0xffffffffu, xx, by);
                        yy += __shfl_xor_sync(0xffffffffu, yy, by);
                        xy += __shfl_xor_sync(0xffffffffu, xy, by);
                    }
                    if (ng_fabs(xy) <= 4 * EPS * ng_sqrt(xx) * ng_sqrt(yy)) continue;
                    T c, s;
                    ng_angle(yy - xx, xy, c, s);
                    for (int j = lane; j < len; j += 32) ng_turn(x[j], y[j], c, s);
                    for (int j = lane; j < k; j += 32) ng_turn(v[p * k + j], v[q * k + j], c, s);
                    if (lane == 0) changes = 1;
                }
                __syncthreads();
            }
            if (!changes) break;
        }
        __syncthreads();
        NG_SHARE(i, k) {
            T squares = 0;
            for (int j = 0; j < len; j++) squares += g[i * len + j] * g[i * len + j];
            lengths[i] = ng_sqrt(squares);
        }
        __syncthreads();
        NG_SHARE(i, k) {
            int rank = 0;
            for (int j = 0; j < k; j++) rank += lengths[j] > lengths[i] || (lengths[j] == lengths[i] && j < i);
            values[rank] = scale < 0 ? NG_NOT_A_NUMBER : lengths[i] * scale;
            for (int j = 0; j < len; j++) columns[j * k + rank] = g[i * len + j];
            for (int j = 0; j < k; j++) rows[rank * k + j] = v[i * k + j];
        }
        __syncthreads();
    }
}

// Both kinds of vectors, from the rotations and from the reflections of the turned columns, whose triangle is diagonal but for its signs.
extern "C" __global__ void oriented(ng_i64 count, int m, int n, int left, int right, const T *qs, const T *rs, const T *all_rows, const int *info,
                                    T *us, T *vhs) {
    const int k = m < n ? m : n, wide = m < n, most = left < right ? right : left;
    const int columns = wide ? right : left;
    NG_MATRICES(at, count) {
        const T *q = qs + at * (wide ? n : m) * columns, *r = rs + at * k * k, *rows = all_rows + at * k * k;
        T *u = us + at * m * left, *vh = vhs + at * right * n;
        NG_SHARE(i, most) {
            // Of the longer vectors, and of both together.
            const T own = i < k && r[i * k + i] < 0 ? (T)-1 : (T)1;
            T sign;
            if (i >= left) sign = ng_sign_of(q + i, n, columns);
            else sign = wide ? ng_sign_of(rows + i * k, m, 1) : own * ng_sign_of(q + i, m, columns);
            if (info[at]) sign = NG_NOT_A_NUMBER;
            if (i < left)
                for (int j = 0; j < m; j++) u[j * left + i] = sign * (wide ? rows[i * k + j] : own * q[j * columns + i]);
            if (i < right)
                for (int j = 0; j < n; j++) vh[i * n + j] = sign * (wide ? own * q[j * columns + i] : rows[i * k + j]);
        }
    }
}
