// SPDX-License-Identifier: Apache-2.0
// Merge sort with sorting networks in vectors of four (AVX2); a merge without branches elsewhere.
//
// The networks are Batcher's bitonic ones (AFIPS 1968); merging streams by them is as in Chhugani
// et al., "Efficient implementation of sorting on multi-core SIMD CPU architecture" (VLDB 2008).
#ifndef DATACENTER_SORT_VECTOR_HPP
#define DATACENTER_SORT_VECTOR_HPP

#include <cstdint>
#include <limits>

#include "sort_scalar.hpp"

#ifdef __AVX2__
#include <immintrin.h>

constexpr bool vectors = true;
constexpr int64_t leaf = 16;

// Leave the lesser of each pair in `low` and the greater in `high`. AVX2 has no minimum of 64 bits.
inline void exchange(__m256i &low, __m256i &high) {
    const __m256i swap = _mm256_cmpgt_epi64(low, high);
    const __m256i lesser = _mm256_blendv_epi8(low, high, swap);
    high = _mm256_blendv_epi8(high, low, swap);
    low = lesser;
}

inline __m256i reversed(__m256i v) { return _mm256_permute4x64_epi64(v, 0x1B); }

// Sort a bitonic sequence of four.
inline __m256i bitonic4(__m256i v) {
    __m256i low = v, high = _mm256_permute4x64_epi64(v, 0x4E); // 2 3 0 1: partners two apart
    exchange(low, high);
    v = _mm256_permute2x128_si256(low, high, 0x20);
    low = v;
    high = _mm256_shuffle_epi32(v, 0x4E); // 1 0 3 2: partners next to each other
    exchange(low, high);
    return _mm256_unpacklo_epi64(low, high);
}

// Sort a bitonic sequence of eight.
inline void bitonic8(__m256i &a, __m256i &b) {
    exchange(a, b);
    a = bitonic4(a);
    b = bitonic4(b);
}

// Merge sorted (a, b) and sorted (c, d), of eight each.
inline void merge16(__m256i &a, __m256i &b, __m256i &c, __m256i &d) {
    const __m256i last = reversed(d), next = reversed(c);
    c = last;
    d = next;
    exchange(a, c);
    exchange(b, d);
    bitonic8(a, b);
    bitonic8(c, d);
}

inline __m256i load(const int64_t *from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from));
}
inline void store(int64_t *to, __m256i v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), v);
}

// Sort 16 elements: four columns by a network of five exchanges, transposed, merged twice.
inline void sort16(const int64_t *from, int64_t *to) {
    __m256i r0 = load(from), r1 = load(from + 4), r2 = load(from + 8), r3 = load(from + 12);
    exchange(r0, r1);
    exchange(r2, r3);
    exchange(r0, r2);
    exchange(r1, r3);
    exchange(r1, r2);
    const __m256i even01 = _mm256_unpacklo_epi64(r0, r1), odd01 = _mm256_unpackhi_epi64(r0, r1);
    const __m256i even23 = _mm256_unpacklo_epi64(r2, r3), odd23 = _mm256_unpackhi_epi64(r2, r3);
    __m256i a = _mm256_permute2x128_si256(even01, even23, 0x20);
    __m256i b = reversed(_mm256_permute2x128_si256(odd01, odd23, 0x20));
    __m256i c = _mm256_permute2x128_si256(even01, even23, 0x31);
    __m256i d = reversed(_mm256_permute2x128_si256(odd01, odd23, 0x31));
    bitonic8(a, b);
    bitonic8(c, d);
    merge16(a, b, c, d);
    store(to, a);
    store(to + 4, b);
    store(to + 8, c);
    store(to + 12, d);
}

inline void sort_leaf(const int64_t *from, int64_t *to, int64_t n) {
    int64_t padded[leaf];
    for (int64_t i = 0; i < leaf; i++)
        padded[i] = i < n ? from[i] : std::numeric_limits<int64_t>::max();
    sort16(padded, padded);
    for (int64_t i = 0; i < n; i++) to[i] = padded[i];
}

inline void merge_vectors(const int64_t *a, int64_t n_a, const int64_t *b, int64_t n_b,
                          int64_t *to) {
    if (n_a < 8 || n_b < 8) return merge<false>(a, n_a, b, n_b, to);
    __m256i low0 = load(a), low1 = load(a + 4), high0 = load(b), high1 = load(b + 4);
    int64_t i = 8, j = 8, k = 0;
    for (;;) { // the eight that go out are no greater than all that is left
        merge16(low0, low1, high0, high1);
        store(to + k, low0);
        store(to + k + 4, low1);
        k += 8;
        low0 = high0;
        low1 = high1;
        const bool from_a = j >= n_b || (i < n_a && a[i] < b[j]);
        if (from_a ? n_a - i < 8 : n_b - j < 8) break;
        const int64_t *next = from_a ? a + i : b + j;
        i += from_a ? 8 : 0;
        j += from_a ? 0 : 8;
        high0 = load(next);
        high1 = load(next + 4);
    }
    // One run has fewer than eight left: merge them with the eight held, then with the other run.
    int64_t held[8], joined[16];
    store(held, low0);
    store(held + 4, low1);
    const bool short_a = n_a - i < 8;
    const int64_t *few = short_a ? a + i : b + j, *many = short_a ? b + j : a + i;
    const int64_t n_few = short_a ? n_a - i : n_b - j, n_many = short_a ? n_b - j : n_a - i;
    merge<false>(held, 8, few, n_few, joined);
    merge<false>(joined, 8 + n_few, many, n_many, to + k);
}

#else

constexpr bool vectors = false;
constexpr int64_t leaf = 16;

inline void sort_leaf(const int64_t *from, int64_t *to, int64_t n) {
    for (int64_t i = 0; i < n; i++) to[i] = from[i];
    insertion_sort(to, n);
}

inline void merge_vectors(const int64_t *a, int64_t n_a, const int64_t *b, int64_t n_b,
                          int64_t *to) {
    int64_t i = 0, j = 0, k = 0;
    while (i < n_a && j < n_b) {
        const bool from_b = b[j] < a[i];
        to[k++] = from_b ? b[j] : a[i];
        i += !from_b;
        j += from_b;
    }
    merge<false>(a + i, n_a - i, b + j, n_b - j, to + k);
}

#endif

// Sort `n` values into `to`, with `from` as room to work in.
inline void merge_sort_into(int64_t *from, int64_t *to, int64_t n) {
    if (n <= leaf) return sort_leaf(from, to, n);
    const int64_t half = (n / 2 + leaf - 1) / leaf * leaf;
    merge_sort_into(to, from, half);
    merge_sort_into(to + half, from + half, n - half);
    merge_vectors(from, half, from + half, n - half, to);
}

// Sort in place; `room` is as large, and holds a copy, since the leaves may be read from either.
inline void merge_sort(int64_t *values, int64_t *room, int64_t n) {
    for (int64_t i = 0; i < n; i++) room[i] = values[i];
    merge_sort_into(room, values, n);
}

#endif
