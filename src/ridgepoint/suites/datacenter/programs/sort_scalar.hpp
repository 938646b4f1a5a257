// SPDX-License-Identifier: Apache-2.0
// Quick sort and merging, with the compares in sight instead of in the C library's qsort.
#ifndef DATACENTER_SORT_SCALAR_HPP
#define DATACENTER_SORT_SCALAR_HPP

#include <cstdint>

constexpr int64_t prefetch_distance = 64; // elements: 8 cache lines

inline void insertion_sort(int64_t *values, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        const int64_t value = values[i];
        int64_t j = i;
        for (; j > 0 && value < values[j - 1]; j--) values[j] = values[j - 1];
        values[j] = value;
    }
}

inline int64_t median(int64_t a, int64_t b, int64_t c) {
    if (a < b) return b < c ? b : a < c ? c : a;
    return a < c ? a : b < c ? c : b;
}

// Sort in place. Pivots are medians of three places at random, which no input can foresee, and
// equal elements are exchanged, so that they are shared among both parts.
template <bool prefetch> void quick_sort(int64_t *values, int64_t n) {
    uint64_t random = 88172645463325252u;
    while (n > 16) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        const int64_t step = int64_t(random >> 33) % (n / 2);
        const int64_t pivot = median(values[step], values[n / 2], values[n - 1 - step]);
        int64_t i = -1, j = n;
        for (;;) { // Hoare: [0, j] <= pivot <= [j + 1, n)
            do i++;
            while (values[i] < pivot);
            do j--;
            while (pivot < values[j]);
            if (i >= j) break;
            const int64_t value = values[i];
            values[i] = values[j];
            values[j] = value;
            if (prefetch) {
                __builtin_prefetch(values + i + prefetch_distance, 1);
                __builtin_prefetch(values + j - prefetch_distance, 1);
            }
        }
        // Recurse into the smaller part, so that the stack is logarithmic.
        const int64_t left = j + 1, right = n - left;
        if (left < right) {
            quick_sort<prefetch>(values, left);
            values += left;
            n = right;
        } else {
            quick_sort<prefetch>(values + left, right);
            n = left;
        }
    }
    insertion_sort(values, n);
}

// Merge two sorted runs into `to`, which overlaps neither.
template <bool prefetch>
void merge(const int64_t *a, int64_t n_a, const int64_t *b, int64_t n_b, int64_t *to) {
    int64_t i = 0, j = 0, k = 0;
    while (i < n_a && j < n_b) {
        if (prefetch) {
            __builtin_prefetch(a + i + prefetch_distance);
            __builtin_prefetch(b + j + prefetch_distance);
        }
        if (b[j] < a[i])
            to[k++] = b[j++];
        else
            to[k++] = a[i++];
    }
    while (i < n_a) to[k++] = a[i++];
    while (j < n_b) to[k++] = b[j++];
}

#endif
