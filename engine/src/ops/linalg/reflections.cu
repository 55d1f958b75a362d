// Factors by Householder's reflections with LAPACK's signs: a block for each matrix.

// The triangle, of `rows` rows, and the first `columns` columns of what makes the matrix of it. `works` holds a copy of the matrices in
// the end, with the reflections below the diagonal, and `factors` a number for each of them.
extern "C" __global__ void reflections(ng_i64 count, int m, int n, int columns, int rows, const T *in, T *works, T *all_factors, T *qs, T *rs) {
    const int size = m < n ? m : n;
    NG_MATRICES(at, count) {
        const T *a = in + at * m * n;
        T *work = works + at * m * n, *factors = all_factors + at * size;
        NG_SHARE(e, m * n) work[e] = a[e];
        __syncthreads();
        for (int k = 0; k < size; k++) {
            T most = 0;
            NG_SHARE(i, m) if (i > k) most = ng_larger::of(ng_fabs(work[i * n + k]), most);
            most = ng_of_all<ng_larger>(most);
            const T head = work[k * n + k];
            T factor = 0;
            // Below the diagonal there is something.
            if (most > 0) {
                const T scale = ng_larger::of(most, ng_fabs(head));
                T squares = 0;
                NG_SHARE(i, m) if (i > k) squares += work[i * n + k] / scale * (work[i * n + k] / scale);
                squares = ng_of_all<ng_added>(squares) + head / scale * (head / scale);
                const T length = scale * ng_sqrt(squares), first = head < 0 ? length : -length;
                factor = (first - head) / first;
                NG_SHARE(i, m) if (i > k) work[i * n + k] /= head - first;
                if (threadIdx.x == 0) work[k * n + k] = first;
            }
            if (threadIdx.x == 0) factors[k] = factor;
            __syncthreads();
            if (factor != 0) NG_SHARE(j, n) if (j > k) {
                T along = work[k * n + j];
                for (int i = k + 1; i < m; i++) along += work[i * n + k] * work[i * n + j];
                along *= factor;
                work[k * n + j] -= along;
                for (int i = k + 1; i < m; i++) work[i * n + j] -= along * work[i * n + k];
            }
            __syncthreads();
        }
        NG_SHARE(e, rows * n) {
            const int i = e / n, j = e % n;
            rs[at * rows * n + e] = j >= i ? work[e] : (T)0;
        }
        T *q = qs + at * m * columns;
        NG_SHARE(j, columns) {
            for (int i = 0; i < m; i++) q[i * columns + j] = i == j;
            for (int k = size - 1; k >= 0; k--) {
                T along = q[k * columns + j];
                for (int i = k + 1; i < m; i++) along += work[i * n + k] * q[i * columns + j];
                along *= factors[k];
                q[k * columns + j] -= along;
                for (int i = k + 1; i < m; i++) q[i * columns + j] -= along * work[i * n + k];
            }
        }
        __syncthreads();
    }
}
