/* An auditing library of the program's own (LD_AUDIT): counts the objects that it sees. */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static int opened, closed;

unsigned int la_version(unsigned int version) { return version; }
unsigned int la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie) {
    (void)space, (void)cookie;
    if (strstr(map->l_name, "library")) opened++;
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
unsigned int la_objclose(uintptr_t *cookie) {
    (void)cookie;
    if (closed++ == 0 && opened) (void)!write(1, "audited\n", 8);
    return 0;
}
