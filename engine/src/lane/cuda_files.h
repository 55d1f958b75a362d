// How a test calls kernels: elements come from one file and go to another.
#include <cstdio>
#include <cstdlib>

static const unsigned grid[] = {3, 1, 1, 32, 0};
static FILE *given, *results;

template <class T>
static T *room(long long n) {
    return static_cast<T *>(aligned_alloc(16, (n * sizeof(T) + 15) / 16 * 16));
}

template <class T>
static T *input(long long n) {
    T *elements = room<T>(n);
    if (fread(elements, sizeof(T), n, given) != static_cast<size_t>(n)) abort();
    return elements;
}

template <class T>
static void output(T *elements, long long n) {
    fwrite(elements, sizeof(T), n, results);
}
