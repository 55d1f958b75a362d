// Indices from elements.

// From how many elements so far count, where those are that do.
extern "C" __global__ void nonzero(ng_i64 n, const ng_i64 *counts, const ng_dims sizes, ng_i64 *out) {
    NG_EACH(at, n) {
        if (counts[at] == (at > 0 ? counts[at - 1] : 0)) continue;
        ng_i64 *row = out + (counts[at] - 1) * sizes.rank, rest = at;
        for (int dim = sizes.rank - 1; dim >= 0; dim--) {
            row[dim] = rest % sizes.sizes[dim];
            rest /= sizes.sizes[dim];
        }
    }
}

extern "C" __global__ void one_hot(ng_i64 n, const I *index, ng_i64 n_classes, ng_i64 *out, ng_fault *fault) {
    NG_EACH(at, n) {
        const ng_i64 named = ng_get<ng_i64>(index[at / n_classes]);
        if (named < 0 || named >= n_classes) ng_refuse(fault, 1u, named);
        out[at] = named == at % n_classes;
    }
}
