/* Count words with a hash table: characters, hashing, chains, comparison of strings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word {
    struct word *next;
    unsigned count;
    char text[12];
};

static struct word *table[4096];

static unsigned hash(const char *s)
{
    unsigned h = 5381;
    while (*s)
        h = (h << 5) + h + (unsigned char)*s++;
    return h;
}

static int same(const char *s, const char *t)
{
    while (*s && *s == *t) {
        s++;
        t++;
    }
    return *s == *t;
}

static void add(const char *text)
{
    struct word **at = &table[hash(text) & 4095];
    for (; *at; at = &(*at)->next)
        if (same((*at)->text, text)) {
            (*at)->count++;
            return;
        }
    *at = calloc(1, sizeof **at);
    strcpy((*at)->text, text);
    (*at)->count = 1;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    unsigned seed = 7, distinct = 0;
    for (int i = 0; i < n; i++) {
        char text[12];
        int length = 0;
        seed = seed * 1664525u + 1013904223u;
        for (unsigned k = seed >> 18; k; k /= 26)
            text[length++] = 'a' + k % 26;
        text[length] = 0;
        add(text);
    }
    for (int i = 0; i < 4096; i++)
        for (struct word *w = table[i]; w; w = w->next)
            distinct++;
    printf("%u\n", distinct);
    return 0;
}
