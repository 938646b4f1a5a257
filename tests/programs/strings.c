/* Instructions with a REP prefix whose iterations are known. usage: strings N
 *
 * Each of these functions is called N times; what it does is said beside it. */
#include <stdlib.h>

#define FUNCTION(name, body)                                                                    \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" body "\n ret\n" \
            ".size " #name ", . - " #name "\n");                                                \
    void name(const char *text, char *room, long unused, long n);

FUNCTION(copy_n, "xchg %rdi, %rsi\n rep movsb")            /* n bytes */
FUNCTION(copy_40, "xchg %rdi, %rsi\n movl $5, %ecx\n rep movsq")
FUNCTION(copy_none, "xchg %rdi, %rsi\n xorl %ecx, %ecx\n rep movsq")
FUNCTION(store_48, "movq %rsi, %rdi\n movl $12, %ecx\n rep stosl")
FUNCTION(find_3rd, "movb $99, %al\n repne scasb")           /* of n, which is more than 3 */
FUNCTION(find_none, "movb $120, %al\n repne scasb")         /* looks at all n */
FUNCTION(find_10th, "movb $106, %al\n movl $100, %ecx\n repne scasb")
FUNCTION(skip_same, "movq %rdi, %rsi\n repe cmpsb")         /* looks at all n, twice */
FUNCTION(skip_1, "leaq 1(%rdi), %rsi\n repe cmpsb")         /* differs at once */

int main(int argc, char **argv) {
    static const char text[] = "abcdefghijklmnopqrstuvw";
    static char room[64];
    long times = argc > 1 ? atol(argv[1]) : 1;
    for (long i = 0; i < times; i++) {
        copy_n(text, room, 0, 7);
        copy_40(text, room, 0, 0);
        copy_none(text, room, 0, 9);
        store_48(text, room, 0, 0);
        find_3rd(text, room, 0, 20);
        find_none(text, room, 0, 13);
        find_10th(text, room, 0, 0);
        skip_same(text, room, 0, 11);
        skip_1(text, room, 0, 11);
    }
    return 0;
}
