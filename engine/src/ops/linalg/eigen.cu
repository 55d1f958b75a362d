// Eigenvalues of any square matrices, and their vectors: Hessenberg's form by reflections, then QR steps by two shifts at once (LAPACK,
// `dlahqr`), then substitution: a block for each matrix. Names: T is double, E the elements of operands and results.

// Less than the squares of what counts, in matrices whose largest element is about 1.
#define NG_TINY 1e-290

struct ng_complex {
    double x, y;
};

__device__ inline ng_complex ng_product(ng_complex a, ng_complex b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

__device__ inline ng_complex ng_quotient(ng_complex a, ng_complex b) {
    if (fabs(b.x) >= fabs(b.y)) {
        const double ratio = b.y / b.x, size = b.x + ratio * b.y;
        return {(a.x + ratio * a.y) / size, (a.y - ratio * a.x) / size};
    }
    const double ratio = b.x / b.y, size = b.y + ratio * b.x;
    return {(ratio * a.x + a.y) / size, (ratio * a.y - a.x) / size};
}

// Makes column `k` of `h` 0 below the row after `k`, by a reflection of all rows and columns behind `k`; `z` becomes `z` times it.
// `line` holds the reflection.
__device__ inline void ng_reflect_column(double *h, double *z, double *line, int n, int k, bool wanted) {
    double most = 0;
    NG_SHARE(i, n) if (i > k + 1) most = ng_larger::of(fabs(h[i * n + k]), most);
    most = ng_of_all<ng_larger>(most);
    if (most == 0) return;
    const double head = h[(k + 1) * n + k], scale = ng_larger::of(most, fabs(head));
    double squares = 0;
    NG_SHARE(i, n) if (i > k) squares += h[i * n + k] / scale * (h[i * n + k] / scale);
    const double length = scale * sqrt(ng_of_all<ng_added>(squares)), first = head < 0 ? length : -length;
    const double factor = (first - head) / first;
    NG_SHARE(i, n) if (i > k) line[i] = i == k + 1 ? 1 : h[i * n + k] / (head - first);
    __syncthreads();
    NG_SHARE(j, n) if (j >= k) {
        double along = 0;
        for (int i = k + 1; i < n; i++) along += line[i] * h[i * n + j];
        for (int i = k + 1; i < n; i++) {
            if (j > k) h[i * n + j] -= along * factor * line[i];
            else h[i * n + j] = i == k + 1 ? first : 0;
        }
    }
    __syncthreads();
    NG_SHARE(i, wanted ? 2 * n : n) {
        double *row = i < n ? h + (ng_i64)i * n : z + (ng_i64)(i - n) * n, along = 0;
        for (int j = k + 1; j < n; j++) along += row[j] * line[j];
        for (int j = k + 1; j < n; j++) row[j] -= along * factor * line[j];
    }
    __syncthreads();
}

// The first row of what ends with row `last` and has not come apart; the element before it becomes 0.
__device__ inline int ng_first_of(double *h, int n, int last) {
    int k = last;
    for (; k > 0; k--) {
        const double before = h[(k - 1) * n + k - 1], own = h[k * n + k], below = fabs(h[k * n + k - 1]);
        double size = fabs(before) + fabs(own);
        if (size == 0 && k > 1) size = fabs(h[(k - 1) * n + k - 2]);
        if (size == 0 && k < last) size = fabs(h[(k + 1) * n + k]);
        if (below <= NG_TINY) break;
        if (below > EPS * size) continue;
        // Ahues and Tisseur 1997, "A new deflation criterion for the QR algorithm".
        const double above = fabs(h[(k - 1) * n + k]), gap = fabs(before - own);
        const double most = fmax(below, above), large = fmax(fabs(own), gap), all = large + most;
        if (fmin(below, above) * (most / all) <= fmax(NG_TINY, EPS * (fmin(fabs(own), gap) * (large / all)))) break;
    }
    if (k > 0) h[k * n + k - 1] = 0;
    return k;
}

// Both eigenvalues of the last two rows, of real ones the nearer one twice. Where many steps have not come to an end, others.
__device__ inline void ng_shifts(const double *h, int n, int first, int last, int steps, ng_complex (&shifts)[2]) {
    double a = h[(last - 1) * n + last - 1], b = h[(last - 1) * n + last], c = h[last * n + last - 1], d = h[last * n + last];
    if (steps > 0 && steps % 10 == 0) {
        const bool at_top = steps % 20 != 0;
        c = at_top ? fabs(h[(first + 1) * n + first]) + fabs(h[(first + 2) * n + first + 1]) : fabs(c) + fabs(h[(last - 1) * n + last - 2]);
        a = d = 0.75 * c + (at_top ? h[first * n + first] : d);
        b = -0.4375 * c;
    }
    const double size = fabs(a) + fabs(b) + fabs(c) + fabs(d), by = size > 0 ? 1 / size : 0;
    a *= by, b *= by, c *= by, d *= by;
    const double mean = (a + d) / 2, inner = (a - mean) * (d - mean) - b * c, root = sqrt(fabs(inner));
    if (inner >= 0) {
        shifts[0] = {mean * size, root * size}, shifts[1] = {mean * size, -root * size};
        return;
    }
    const double nearer = fabs(mean + root - d) <= fabs(mean - root - d) ? mean + root : mean - root;
    shifts[0] = shifts[1] = {nearer * size, 0};
}

// The row where a step may begin, and the first column there of the matrix less each of both shifts.
__device__ inline int ng_start_of(const double *h, int n, int first, int last, const ng_complex (&shifts)[2], double (&column)[3]) {
    for (int k = last - 2;; k--) {
        const double own = h[k * n + k], below = h[(k + 1) * n + k], next = h[(k + 1) * n + k + 1];
        const ng_complex one = shifts[0], other = shifts[1];
        const double scale = fabs(own - other.x) + fabs(other.y) + fabs(below), share = below / scale;
        column[0] = share * h[k * n + k + 1] + (own - one.x) * ((own - other.x) / scale) - one.y * (other.y / scale);
        column[1] = share * (own + next - one.x - other.x);
        column[2] = share * h[(k + 2) * n + k + 1];
        const double size = fabs(column[0]) + fabs(column[1]) + fabs(column[2]);
        for (int i = 0; i < 3 && size > 0; i++) column[i] /= size;
        if (k == first) return k;
        const double around = fabs(h[(k - 1) * n + k - 1]) + fabs(own) + fabs(next);
        if (fabs(h[k * n + k - 1]) * (fabs(column[1]) + fabs(column[2])) <= EPS * fabs(column[0]) * around) return k;
    }
}

// The reflection that leaves but the first of three numbers: its vector, which begins with 1, its factor, and what the first becomes.
struct ng_reflection {
    double second, third, factor, first;
};

__device__ inline ng_reflection ng_reflection_of(double x, double y, double z) {
    if (y == 0 && z == 0) return {0, 0, 0, x};
    const double size = fmax(fabs(x), fmax(fabs(y), fabs(z)));
    x /= size, y /= size, z /= size;
    const double length = sqrt(x * x + y * y + z * z), first = x < 0 ? length : -length;
    return {y / (x - first), z / (x - first), (first - x) / first, first * size};
}

// Reflects two or three numbers that lie `step` apart.
__device__ inline void ng_reflect(double *x, ng_i64 step, const ng_reflection &by, bool three) {
    const double along = by.factor * (x[0] + by.second * x[step] + (three ? by.third * x[2 * step] : 0));
    x[0] -= along, x[step] -= along * by.second;
    if (three) x[2 * step] -= along * by.third;
}

// One step: reflections of three rows and columns, from `start` down to `last`.
__device__ inline void ng_sweep(double *h, double *z, int n, int first, int last, int start, const double *column, bool wanted) {
    for (int k = start; k < last; k++) {
        const bool three = k + 2 <= last, begins = k == start;
        double *before = h + (ng_i64)k * n + k - 1;
        const ng_reflection by = begins ? ng_reflection_of(column[0], column[1], column[2])
                                        : ng_reflection_of(before[0], before[n], three ? before[2 * n] : 0);
        const int columns = (wanted ? n : last + 1) - k, top = wanted ? 0 : first, rows = (k + 3 < last ? k + 3 : last) + 1 - top;
        NG_SHARE(j, columns) ng_reflect(h + (ng_i64)k * n + k + j, n, by, three);
        __syncthreads();
        NG_SHARE(i, rows + (wanted ? n : 0)) {
            ng_reflect((i < rows ? h + (ng_i64)(top + i) * n : z + (ng_i64)(i - rows) * n) + k, 1, by, three);
        }
        if (threadIdx.x == 0 && !begins) {
            before[0] = by.first, before[n] = 0;
            if (three) before[2 * n] = 0;
        }
        if (threadIdx.x == 0 && begins && k > first) before[0] *= 1 - by.factor;
        __syncthreads();
    }
}

// The eigenvalues of rows `k` and `k + 1`, which have come apart from the others; real ones make them a triangle if vectors are wanted.
__device__ inline void ng_settle(double *h, double *z, int n, int k, double *real, double *imag, bool wanted) {
    const double a = h[k * n + k], b = h[k * n + k + 1], c = h[(k + 1) * n + k], d = h[(k + 1) * n + k + 1];
    const double half = (a - d) / 2, inner = half * half + b * c, root = sqrt(fabs(inner)), far = half < 0 ? half - root : half + root;
    const bool pair = inner < 0;
    const double one = d + (pair ? half : far), other = pair || far == 0 ? one : d - b * c / far;
    __syncthreads();
    if (threadIdx.x == 0) real[k] = one, real[k + 1] = other, imag[k] = pair ? root : 0, imag[k + 1] = pair ? -root : 0;
    if (pair || !wanted) return;
    const double size = fmax(fabs(c), fabs(far)), p = c / size, q = far / size, length = sqrt(p * p + q * q);
    const double sine = p / length, cosine = q / length;
    NG_SHARE(j, n - k) {
        double *x = h + (ng_i64)k * n + k + j, *y = x + n;
        const double upper = *x;
        *x = cosine * upper + sine * *y, *y = cosine * *y - sine * upper;
    }
    __syncthreads();
    NG_SHARE(i, k + 2 + n) {
        double *x = (i < k + 2 ? h + (ng_i64)i * n : z + (ng_i64)(i - k - 2) * n) + k;
        const double left = x[0];
        x[0] = cosine * left + sine * x[1], x[1] = cosine * x[1] - sine * left;
    }
    __syncthreads();
    if (threadIdx.x == 0) h[k * n + k] = one, h[(k + 1) * n + k] = 0, h[(k + 1) * n + k + 1] = other;
}

// Schur's form of a matrix in Hessenberg's form, with blocks of two rows for pairs of eigenvalues; of the blocks alone unless vectors are
// wanted. False where the steps do not come to an end.
__device__ inline bool ng_schur(double *h, double *z, int n, double *real, double *imag, bool wanted) {
    __shared__ int found_first, found_start;
    __shared__ double found_column[3];
    int steps = 0, left = 30 * (n < 10 ? 10 : n);
    for (int last = n - 1; last >= 0;) {
        if (threadIdx.x == 0) {
            const int first = ng_first_of(h, n, last);
            found_first = first;
            if (last - first > 1) {
                ng_complex shifts[2];
                double column[3];
                ng_shifts(h, n, first, last, steps, shifts);
                found_start = ng_start_of(h, n, first, last, shifts, column);
                for (int i = 0; i < 3; i++) found_column[i] = column[i];
            }
        }
        __syncthreads();
        const int first = found_first;
        if (last - first > 1) {
            if (left-- == 0) return false;
            steps++;
            ng_sweep(h, z, n, first, last, found_start, found_column, wanted);
            continue;
        }
        if (last > first) ng_settle(h, z, n, first, real, imag, wanted);
        else if (threadIdx.x == 0) real[last] = h[last * n + last], imag[last] = 0;
        last = first - 1, steps = 0;
        __syncthreads();
    }
    return true;
}

// The vector of eigenvalue `at` of Schur's form, in column `at` of `xs`, the imaginary parts of one that is not real in the next one.
struct ng_vector {
    const double *h;
    double *xs;
    int n, at, size;
    ng_complex value;
    double tiny;

    __device__ bool is_pair() const { return value.y > 0; }

    __device__ ng_complex get(int row) const { return {xs[row * n + at], is_pair() ? xs[row * n + at + 1] : 0}; }

    __device__ void put(int row, ng_complex x) {
        xs[row * n + at] = x.x;
        if (is_pair()) xs[row * n + at + 1] = x.y;
    }

    // What the elements after `from` make of a row, with the other sign.
    __device__ ng_complex rest(int row, int from) const {
        ng_complex sum = {0, 0};
        for (int j = from; j < size; j++) {
            const ng_complex x = get(j);
            sum.x -= h[row * n + j] * x.x, sum.y -= h[row * n + j] * x.y;
        }
        return sum;
    }

    __device__ ng_complex gap(int row) const { return {h[row * n + row] - value.x, -value.y}; }

    // An element of a row that has come apart.
    __device__ void solve_one(int row) {
        const ng_complex own = gap(row);
        put(row, ng_quotient(rest(row, row + 1), fabs(own.x) + fabs(own.y) < tiny ? ng_complex{tiny, 0} : own));
    }

    // Elements of two rows that have not.
    __device__ void solve_two(int row) {
        const double above = h[row * n + row + 1], below = h[(row + 1) * n + row];
        const ng_complex a = gap(row), d = gap(row + 1), upper = rest(row, row + 2), lower = rest(row + 1, row + 2);
        const ng_complex ad = ng_product(a, d), left = ng_product(upper, d);
        ng_complex inner = {ad.x - above * below, ad.y};
        const double least = tiny * (fabs(a.x) + fabs(a.y) + fabs(d.x) + fabs(d.y) + fabs(above) + fabs(below));
        if (fabs(inner.x) + fabs(inner.y) < least) inner = {least, 0};
        const ng_complex x = ng_quotient({left.x - above * lower.x, left.y - above * lower.y}, inner), ax = ng_product(a, x);
        put(row, x);
        if (fabs(above) > fabs(d.x) + fabs(d.y)) put(row + 1, {(upper.x - ax.x) / above, (upper.y - ax.y) / above});
        else put(row + 1, ng_quotient({lower.x - below * x.x, lower.y - below * x.y}, d));
    }

    // Keeps what has been computed from growing out of range.
    __device__ void shorten(int from) {
        const ng_complex x = get(from), y = get(from + 1);
        const double most = fmax(fabs(x.x) + fabs(x.y), fabs(y.x) + fabs(y.y));
        if (most < 1e100) return;
        for (int row = from; row < size; row++) {
            const ng_complex it = get(row);
            put(row, {it.x / most, it.y / most});
        }
    }

    __device__ void solve() {
        size = is_pair() ? at + 2 : at + 1;
        if (is_pair()) {
            const double above = h[at * n + at + 1], below = h[(at + 1) * n + at];
            const ng_complex a = gap(at), d = gap(at + 1);
            put(at, fabs(below) > fabs(above) ? ng_complex{d.y / below, -d.x / below} : ng_quotient({0, -above}, a));
            put(at + 1, {0, 1});
        } else {
            put(at, {1, 0});
        }
        for (int row = at - 1; row >= 0; row--) {
            if (row > 0 && h[row * n + row - 1] != 0) solve_two(--row);
            else solve_one(row);
            shorten(row);
        }
    }
};

// By what a column of numbers comes to length 1, with a largest element that is real and positive.
__device__ inline ng_complex ng_to_unit(const double *v, int n, bool pair) {
    double most = 0, squares = 0;
    for (int i = 0; i < n; i++) most = fmax(most, hypot(v[i * n], pair ? v[i * n + 1] : 0));
    for (int i = 0; i < n; i++) {
        const double x = v[i * n] / most, y = pair ? v[i * n + 1] / most : 0;
        squares += x * x + y * y;
    }
    const double length = most * sqrt(squares);
    for (int i = 0; i < n; i++) {
        const double x = v[i * n], y = pair ? v[i * n + 1] : 0, size = hypot(x, y);
        if (size >= 0.99 * most) return {x / size / length, -y / size / length};
    }
    return {1, 0};
}

// Vectors of the matrix from Schur's form `h` and what makes the matrix of it, `z`; as columns of `h` in the end.
__device__ inline void ng_vectors(double *h, const double *z, double *xs, int n, const double *real, const double *imag, double tiny) {
    NG_SHARE(at, n) {
        ng_vector vector = {h, xs, n, at, 0, {real[at], imag[at]}, tiny};
        if (imag[at] >= 0) vector.solve();
    }
    __syncthreads();
    NG_SHARE(e, n * n) {
        const int row = e / n, at = e % n, size = imag[at] > 0 ? at + 2 : at + 1;
        double sum = 0;
        for (int k = 0; k < size; k++) sum += z[row * n + k] * xs[k * n + at];
        h[e] = sum;
    }
    __syncthreads();
}

// Real and imaginary parts of eigenvalues and of their vectors, as columns, of length 1; of a pair the one with a positive imaginary part
// stands first. `works` has room for each block.
extern "C" __global__ void eigen(ng_i64 count, int n, int wanted, const E *in, double *works, E *all_values, E *all_others, E *all_vectors,
                                 E *all_parts, int *info) {
    const ng_i64 each = (ng_i64)n * n;
    double *h = works + blockIdx.x * ((wanted ? 3 : 1) * each + 3 * n), *z = h + each, *xs = z + each;
    double *line = wanted ? xs + each : z, *real = line + n, *imag = real + n;
    NG_MATRICES(at, count) {
        const E *a = in + at * each;
        E *values = all_values + at * n, *others = all_others + at * n, *vectors = all_vectors + at * each, *parts = all_parts + at * each;
        NG_SHARE(e, n * n) h[e] = a[e];
        if (wanted) NG_SHARE(e, n * n) z[e] = e / n == e % n;
        __syncthreads();
        const double size = ng_scale_of(h, n * n);
        const int by = size < 0 || (size >= 1e-6 && size <= 1e6) ? 0 : ilogb(size);
        if (by != 0) NG_SHARE(e, n * n) h[e] = scalbn(h[e], -by);
        __syncthreads();
        bool found = size >= 0;
        for (int k = 0; k + 2 < n && found; k++) ng_reflect_column(h, z, line, n, k, wanted);
        found = found && ng_schur(h, z, n, real, imag, wanted);
        if (threadIdx.x == 0) info[at] = !found;
        if (found && wanted) ng_vectors(h, z, xs, n, real, imag, EPS * scalbn(size, -by));
        NG_SHARE(k, n) {
            values[k] = found ? (E)scalbn(real[k], by) : (E)NG_NAN, others[k] = found ? (E)scalbn(imag[k], by) : (E)NG_NAN;
            if (!wanted || (found && imag[k] < 0)) continue;
            const bool pair = found && imag[k] > 0;
            const ng_complex turn = found ? ng_to_unit(h + k, n, pair) : ng_complex{NG_NAN, 0};
            for (int row = 0; row < n; row++) {
                const ng_complex x = ng_product({found ? h[row * n + k] : 1, pair ? h[row * n + k + 1] : 0}, turn);
                vectors[row * n + k] = (E)x.x, parts[row * n + k] = pair ? (E)x.y : (E)0;
                if (pair) vectors[row * n + k + 1] = (E)x.x, parts[row * n + k + 1] = (E)-x.y;
            }
        }
        __syncthreads();
    }
}
