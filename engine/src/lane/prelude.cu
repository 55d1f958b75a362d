// What kernels from lane programs call.

// Rounded towards 0; 0 for a divisor of 0, and -2^63 for -2^63 / -1.
__device__ inline long long ng_quotient(long long x, long long y) {
    return y == 0 ? 0 : y == -1 ? (long long)(0ull - (unsigned long long)x) : x / y;
}

__device__ inline long long ng_remainder(long long x, long long y) {
    return y == 0 || y == -1 ? 0 : x % y;
}

// Wraps around; negative powers are rounded towards 0.
__device__ inline long long ng_power(long long x, long long y) {
    if (y < 0) return x == 1 ? 1 : x != -1 ? 0 : y & 1 ? -1 : 1;
    unsigned long long base = (unsigned long long)x, product = 1;
    for (; y > 0; y >>= 1) {
        if (y & 1) product *= base;
        base *= base;
    }
    return (long long)product;
}

// Truncated, at most to the last number in range; 0 for NaN.
__device__ inline long long ng_whole(double x) {
    if (x >= 9223372036854775808.0) return 9223372036854775807ll;
    if (x < -9223372036854775808.0) return -9223372036854775807ll - 1;
    return x == x ? (long long)x : 0;
}
