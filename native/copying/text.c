/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

size_t text_length(const char *text) {
    size_t n = 0;
    while (text[n]) {
        n++;
    }
    return n;
}

bool text_begins(const char *text, const char *beginning) {
    for (; *beginning; beginning++, text++) {
        if (*text != *beginning) {
            return false;
        }
    }
    return true;
}

bool text_equal(const char *a, const char *b) {
    return text_begins(a, b) && !a[text_length(b)];
}

const char *text_find(const char *text, const char *part) {
    for (; *text; text++) {
        if (text_begins(text, part)) {
            return text;
        }
    }
    return NULL;
}

size_t text_add(char *text, size_t length, size_t room, const char *added) {
    while (*added && length + 1 < room) {
        text[length++] = *added++;
    }
    text[length] = 0;
    return length;
}

size_t text_add_number(char *text, size_t length, size_t room, uint64_t number, unsigned base,
                       unsigned digits) {
    char reversed[65], ordered[65];
    unsigned n = 0;
    do {
        reversed[n++] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number || n < digits);
    for (unsigned i = 0; i < n; i++) {
        ordered[i] = reversed[n - 1 - i];
    }
    ordered[n] = 0;
    return text_add(text, length, room, ordered);
}

uint64_t text_hexadecimal(const char **text) {
    uint64_t number = 0;
    for (;; (*text)++) {
        const char digit = **text;
        if (digit >= '0' && digit <= '9') {
            number = number << 4 | (uint64_t)(digit - '0');
        } else if (digit >= 'a' && digit <= 'f') {
            number = number << 4 | (uint64_t)(digit - 'a' + 10);
        } else {
            return number;
        }
    }
}
