// What is told at the first place at which something is wrong.

extern "C" __global__ void refuse_where(ng_i64 n, const WRONG *wrong, const TOLD *told, ng_i64 *out, ng_fault *fault) {
    __shared__ ng_i64 firsts[256];
    ng_i64 own = n;
    for (ng_i64 at = threadIdx.x; at < n && own == n; at += blockDim.x)
        if (ng_get<ng_i64>(wrong[at]) != 0) own = at;
    firsts[threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x != 0) return;
    ng_i64 first = n;
    for (unsigned i = 0; i < blockDim.x; i++) first = firsts[i] < first ? firsts[i] : first;
    *out = 0;
    if (first < n) ng_refuse(fault, (unsigned)first + 1u, ng_get<ng_i64>(told[first]));
}
