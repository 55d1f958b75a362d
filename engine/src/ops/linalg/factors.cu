// Factors by elimination, and what is solved with triangles: a block for each matrix, column by column.

// The lower triangular factor of a symmetric matrix; with `upper` its transpose, from the other triangle.
extern "C" __global__ void cholesky(ng_i64 count, int n, int upper, const T *in, T *out, int *info) {
    const int down = upper ? 1 : n, right = upper ? n : 1;
    NG_MATRICES(at, count) {
        const T *a = in + at * n * n;
        T *l = out + at * n * n;
        NG_SHARE(e, n * n) {
            const int i = e / n, j = e % n;
            l[i * down + j * right] = j <= i ? a[i * down + j * right] : (T)0;
        }
        __syncthreads();
        int failed = 0;
        for (int k = 0; k < n && !failed; k++) {
            const T pivot = l[k * n + k];
            __syncthreads();
            if (!(pivot > 0)) {
                failed = k + 1;
                continue;
            }
            const T root = ng_sqrt(pivot);
            NG_SHARE(i, n) if (i >= k) l[i * down + k * right] = i == k ? root : l[i * down + k * right] / root;
            __syncthreads();
            const int rest = n - k - 1;
            NG_SHARE(e, rest * rest) {
                const int i = k + 1 + e / rest, j = k + 1 + e % rest;
                if (j <= i) l[i * down + j * right] -= l[i * down + k * right] * l[j * down + k * right];
            }
            __syncthreads();
        }
        if (failed) NG_SHARE(e, n * n) if (e % n <= e / n) l[e / n * down + e % n * right] = NG_NOT_A_NUMBER;
        if (threadIdx.x == 0) info[at] = failed;
        __syncthreads();
    }
}

// Both factors in one matrix, with partial pivoting.
extern "C" __global__ void lu(ng_i64 count, int m, int n, const T *in, T *out, int *all_pivots, int *info) {
    __shared__ T best[THREADS];
    __shared__ int rows[THREADS];
    const int size = m < n ? m : n;
    NG_MATRICES(at, count) {
        const T *a = in + at * m * n;
        T *lu = out + at * m * n;
        int *pivots = all_pivots + at * size;
        NG_SHARE(e, m * n) lu[e] = a[e];
        __syncthreads();
        int failed = 0;
        for (int k = 0; k < size; k++) {
            T most = -1;
            int row = m;
            NG_SHARE(i, m) {
                const T here = ng_fabs(lu[i * n + k]);
                if (i >= k && here > most) most = here, row = i;
            }
            best[threadIdx.x] = most, rows[threadIdx.x] = row;
            __syncthreads();
            for (int by = THREADS / 2; by > 0; by /= 2) {
                if (threadIdx.x < by) {
                    const T other = best[threadIdx.x + by];
                    const int other_row = rows[threadIdx.x + by];
                    if (other > best[threadIdx.x] || (other == best[threadIdx.x] && other_row < rows[threadIdx.x]))
                        best[threadIdx.x] = other, rows[threadIdx.x] = other_row;
                }
                __syncthreads();
            }
            const int pivot = rows[0] < m ? rows[0] : k;
            if (threadIdx.x == 0) pivots[k] = pivot + 1;
            if (pivot != k) NG_SHARE(j, n) {
                const T above = lu[k * n + j];
                lu[k * n + j] = lu[pivot * n + j], lu[pivot * n + j] = above;
            }
            __syncthreads();
            const T head = lu[k * n + k];
            if (head == 0 && !failed) failed = k + 1;
            if (head != 0) NG_SHARE(i, m) if (i > k) lu[i * n + k] /= head;
            __syncthreads();
            const int across = n - k - 1;
            NG_SHARE(e, (m - k - 1) * across) {
                const int i = k + 1 + e / across, j = k + 1 + e % across;
                lu[i * n + j] -= lu[i * n + k] * lu[k * n + j];
            }
            __syncthreads();
        }
        if (threadIdx.x == 0) info[at] = failed;
    }
}

// Which row comes to each place by exchanges.
extern "C" __global__ void permutation(ng_i64 count, int each, int size, const int *pivots, ng_i64 *out) {
    NG_EACH(at, count) {
        ng_i64 *places = out + at * size;
        for (int i = 0; i < size; i++) places[i] = i;
        for (int i = 0; i < each; i++) {
            const int other = pivots[at * each + i] - 1;
            if (i >= size || other < 0 || other >= size) continue;
            const ng_i64 place = places[i];
            places[i] = places[other], places[other] = place;
        }
    }
}

// a @ x = b for `k` columns, or x @ a = b for `k` rows.
extern "C" __global__ void solve_triangular(ng_i64 count, int n, int k, int is_upper, int left, int unit, const T *as, const T *bs, T *xs) {
    const int down = left ? n : 1, right = left ? 1 : n;
    const int along = left ? k : 1, beside = left ? 1 : n;
    const bool upper = left ? is_upper : !is_upper;
    NG_MATRICES(at, count) {
        const T *a = as + at * n * n, *b = bs + at * n * k;
        T *x = xs + at * n * k;
        NG_SHARE(e, n * k) x[e] = b[e];
        __syncthreads();
        for (int step = 0; step < n; step++) {
            const int i = upper ? n - 1 - step : step, first = upper ? 0 : i + 1;
            if (!unit) NG_SHARE(j, k) x[i * along + j * beside] /= a[i * n + i];
            __syncthreads();
            NG_SHARE(e, (n - 1 - step) * k) {
                const int row = first + e / k, j = e % k;
                x[row * along + j * beside] -= a[row * down + i * right] * x[i * along + j * beside];
            }
            __syncthreads();
        }
    }
}
