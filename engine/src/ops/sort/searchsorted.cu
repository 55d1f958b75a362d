// How many of its sorted line stand before each value, with equal ones where `right`.
extern "C" __global__ void searchsorted(ng_i64 total, ng_i64 n, ng_i64 each, const T *lines, const T *values, int right, O1 *out) {
    NG_EACH(at, total) {
        const T *line = lines + at / each * n;
        const ng_key key = ng_key_of(values[at]);
        ng_i64 low = 0, high = n;
        while (low < high) {
            const ng_i64 middle = (low + high) / 2;
            const ng_key here = ng_key_of(line[middle]);
            if (right ? here <= key : here < key) low = middle + 1;
            else high = middle;
        }
        out[at] = low;
    }
}
