/* Tiles of AMX to and from memory. usage: tile_moves; it ends with 77 where there is no AMX
 *
 * loads() reads 64 tiles of 12 rows of 32 bytes, 256 bytes apart: 12 lines each, no two the same.
 * stores() writes 64 tiles of 16 rows of 64 bytes without a gap: 16 lines each.
 */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KERNEL __attribute__((noinline, noclone)) static void
#define TILES 64

static char a[TILES * 12 * 256] __attribute__((aligned(4096)));
static char c[TILES * 16 * 64] __attribute__((aligned(4096)));

KERNEL loads(void) {
    for (long i = 0; i < TILES; i++) _tile_loadd(1, a + i * 12 * 256, 256);
}

KERNEL stores(void) {
    for (long i = 0; i < TILES; i++) _tile_stored(2, c + i * 16 * 64, 64);
}

int main(void) {
    uint8_t shape[64] __attribute__((aligned(64))) = {1};
    if (syscall(SYS_arch_prctl, 0x1023, 18)) return 77; /* ARCH_REQ_XCOMP_PERM, tiles */
    shape[16 + 2 * 1] = 32, shape[48 + 1] = 12;
    shape[16 + 2 * 2] = 64, shape[48 + 2] = 16;
    _tile_loadconfig(shape);
    loads();
    stores();
    _tile_release();
    return 0;
}
