// What all threads of a block know together. Names: T the numbers, EPS their rounding, THREADS of a block, a power of 2 of at least 32.

struct ng_added {
    __device__ static T of(T a, T b) { return a + b; }
};
struct ng_larger {
    __device__ static T of(T a, T b) { return a > b ? a : b; }
};

// What comes of the numbers that all threads hold.
template <class F>
__device__ inline T ng_of_all(T x) {
    __shared__ T held[THREADS];
    held[threadIdx.x] = x;
    __syncthreads();
    for (int by = THREADS / 2; by > 0; by /= 2) {
        if (threadIdx.x < by) held[threadIdx.x] = F::of(held[threadIdx.x], held[threadIdx.x + by]);
        __syncthreads();
    }
    const T res = held[0];
    __syncthreads();
    return res;
}

// The matrices of a batch, one after the other for a block.
#define NG_MATRICES(at, count) for (ng_i64 at = blockIdx.x; at < (count); at += gridDim.x)
// The numbers below `n`, in turn for each thread.
#define NG_SHARE(i, n) for (int i = threadIdx.x; i < (n); i += THREADS)

#define NG_NOT_A_NUMBER ((T)NG_NAN)

// The largest absolute value of all elements, 1 if all are 0; -1 where one is not finite.
__device__ inline T ng_scale_of(const T *x, int n) {
    T most = 0, wrong = 0;
    NG_SHARE(e, n) {
        most = ng_larger::of(ng_fabs(x[e]), most);
        if (!(x[e] - x[e] == 0)) wrong = 1;
    }
    most = ng_of_all<ng_larger>(most);
    return ng_of_all<ng_larger>(wrong) > 0 ? (T)-1 : most > 0 ? most : (T)1;
}
