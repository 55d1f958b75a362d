// Numbers in some order.

extern "C" __global__ void whole_steps(ng_i64 n, T *out, ng_i64 start, ng_i64 step) {
    NG_EACH(at, n) ng_put(out[at], (ng_i64)((unsigned long long)start + (unsigned long long)step * (unsigned long long)at));
}

extern "C" __global__ void steps(ng_i64 n, T *out, double start, double step) {
    NG_EACH(at, n) ng_put(out[at], start + step * (double)at);
}

// Counted from both ends, so that the last number is `end` itself.
extern "C" __global__ void spaced(ng_i64 n, T *out, double start, double end) {
    const double step = n > 1 ? (end - start) / (double)(n - 1) : 0;
    NG_EACH(at, n)
    ng_put(out[at], at < n / 2 || n == 1 ? start + step * (double)at : end - step * (double)(n - 1 - at));
}

extern "C" __global__ void diagonal(ng_i64 n, T *out, ng_i64 columns) {
    NG_EACH(at, n) ng_put(out[at], (int)(at / columns == at % columns));
}
