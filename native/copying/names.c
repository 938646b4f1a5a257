/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include "text.h"

#define FIRST_ROOM 1024
#define FNV_BASIS 2166136261u
#define FNV_PRIME 16777619u

void names_begin(Names *names, Array *text) {
    *names = (Names){.text = text};
    if (!text->n) {
        array_add(text, 1);
    }
}

void names_end(Names *names) {
    pages_give(names->places, names->room * sizeof *names->places);
}

static uint32_t hash_of(const char *name, size_t n) {
    uint32_t hash = FNV_BASIS;
    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ (uint8_t)name[i]) * FNV_PRIME;
    }
    return hash ^ hash >> 15;
}

/* Where a string is in the table, or would be. */
static uint32_t *place_of(const Names *names, const char *name, size_t n) {
    const char *text = (const char *)names->text->items;
    for (size_t i = hash_of(name, n);; i++) {
        uint32_t *place = &names->places[i & (names->room - 1)];
        if (!*place || (text_length(text + *place) == n && !memcmp(text + *place, name, n))) {
            return place;
        }
    }
}

static bool grow(Names *names) {
    Names larger = *names;
    larger.room = names->room ? 2 * names->room : FIRST_ROOM;
    larger.places = pages_take(larger.room * sizeof *larger.places);
    if (!larger.places) {
        return false;
    }
    for (size_t i = 0; i < names->room; i++) {
        const uint32_t at = names->places[i];
        if (at) {
            const char *name = (const char *)names->text->items + at;
            *place_of(&larger, name, text_length(name)) = at;
        }
    }
    names_end(names);
    *names = larger;
    return true;
}

uint32_t names_add(Names *names, const char *name, size_t n) {
    if (!n || names->text->n + n >= UINT32_MAX
        || (2 * names->n >= names->room && !grow(names))) {
        return 0;
    }
    uint32_t *place = place_of(names, name, n);
    if (!*place) {
        const size_t at = names->text->n;
        uint8_t *added = array_add(names->text, n + 1);
        if (!added) {
            return 0;
        }
        memcpy(added, name, n);
        *place = (uint32_t)at;
        names->n++;
    }
    return *place;
}

uint32_t names_add_path(Names *names, const char *base, const char *folder, const char *file) {
    const char *parts[] = {base, folder, file};
    char path[LONGEST_NAME];
    size_t n = 0;
    for (int i = 0; i < 3; i++) {
        const size_t more = text_length(parts[i]);
        n = parts[i][0] == '/' ? 0 : n;
        if (n + more + 1 > sizeof path) {
            return 0;
        }
        if (more && n && path[n - 1] != '/') {
            path[n++] = '/';
        }
        memcpy(path + n, parts[i], more);
        n += more;
    }
    return names_add(names, path, n);
}
