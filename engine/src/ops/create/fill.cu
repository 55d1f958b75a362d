// One value everywhere.
extern "C" __global__ void fill(ng_i64 n, T *out, const T value) {
    NG_EACH(at, n) out[at] = value;
}
