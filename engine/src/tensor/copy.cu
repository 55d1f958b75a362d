// Elements from where some dimensions say to where others say.
extern "C" __global__ void copy(ng_i64 n, const T *from, const ng_dims source, T *to, const ng_dims target) {
    NG_EACH(at, n) to[ng_offset(target, at)] = from[ng_offset(source, at)];
}
