// Functions in assembly, whose basic operations are worked out by hand. PROGRAM NAME: run one.
#include <stdio.h>
#include <string.h>

long cells[1000];
char text[301];

// The loop of the paper's section 4.2.1 with a frame around it, 100 elements.
long clear(long *from, long *end);
__asm__(".globl clear\n.type clear, @function\nclear:\n"
        "subq $688, %rsp\n"
        "movq %rdi, %rax\n"
        "1: movq $0, (%rax)\n"
        "addq $8, %rax\n"
        "cmpq %rsi, %rax\n"
        "jne 1b\n"
        "movl 664(%rsp), %eax\n"
        "addq $688, %rsp\n"
        "ret\n.size clear, .-clear\n");

// An addition from memory, by index.
long sum(const long *from, long n);
__asm__(".globl sum\n.type sum, @function\nsum:\n"
        "xorl %eax, %eax\n"
        "xorl %ecx, %ecx\n"
        "1: addq (%rdi,%rcx,8), %rax\n"
        "incq %rcx\n"
        "cmpq %rsi, %rcx\n"
        "jb 1b\n"
        "ret\n.size sum, .-sum\n");

// Multiply, shift, mask; a counter in memory, by index; and a count down that a branch tests.
long hash(long *table, long n);
__asm__(".globl hash\n.type hash, @function\nhash:\n"
        "movl $1, %eax\n"
        "1: imulq $69069, %rax, %rax\n"
        "leaq 5(%rax), %rax\n"
        "movq %rax, %rcx\n"
        "shrq $3, %rcx\n"
        "andl $511, %ecx\n"
        "incq (%rdi,%rcx,8)\n"
        "decq %rsi\n"
        "jnz 1b\n"
        "ret\n.size hash, .-hash\n");

// A byte is looked for: first byte by byte in one instruction, then sixteen at a time.
long find(const char *from, long n);
__asm__(".globl find\n.type find, @function\nfind:\n"
        "movl $'x', %eax\n"
        "movq %rsi, %rcx\n"
        "cld\n"
        "pushq %rdi\n"
        "repne scasb\n"
        "popq %rdi\n"
        "pxor %xmm1, %xmm1\n"
        "1: movdqu (%rdi), %xmm0\n"
        "pcmpeqb %xmm1, %xmm0\n"
        "pmovmskb %xmm0, %edx\n"
        "addq $16, %rdi\n"
        "testl %edx, %edx\n"
        "je 1b\n"
        "ret\n.size find, .-find\n");

// Scalars and vectors of floating point, compared with zero.
long norm(const double *from, long n);
__asm__(".globl norm\n.type norm, @function\nnorm:\n"
        "xorps %xmm0, %xmm0\n"
        "xorps %xmm2, %xmm2\n"
        "1: movupd -16(%rdi,%rsi,8), %xmm1\n"
        "mulpd %xmm1, %xmm1\n"
        "addpd %xmm1, %xmm0\n"
        "subq $2, %rsi\n"
        "jg 1b\n"
        "ucomisd %xmm2, %xmm0\n"
        "seta %al\n"
        "movzbl %al, %eax\n"
        "ret\n.size norm, .-norm\n");

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    memset(text, '.', sizeof text - 1);
    long result = -1;
    if (!strcmp(name, "clear"))
        result = clear(cells, cells + 100);
    else if (!strcmp(name, "sum"))
        result = sum(cells, 1000);
    else if (!strcmp(name, "hash"))
        result = hash(cells, 1000);
    else if (!strcmp(name, "find"))
        result = find(text, 300);
    else if (!strcmp(name, "norm"))
        result = norm((const double *)cells, 1000);
    printf("%ld\n", result);
    return result < 0;
}
