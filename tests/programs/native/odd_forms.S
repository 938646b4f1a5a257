/* Forms of instructions that a copy has to change, or count around; with the results that they
   have by the manual. Returns how many of them are wrong. */
        .text
        .globl  main
        .type   main, @function
main:
        .cfi_startproc
        pushq   %rbx
        .cfi_def_cfa_offset 16
        .cfi_offset %rbx, -16
        xorl    %ebx, %ebx

/* LOOP and JRCXZ have only short forms; 100 bytes lie between. */
        movl    $37, %ecx
        xorl    %eax, %eax
1:      incl    %eax
        .rept   9
        nopl    0x0(%rax,%rax,1)
        .endr
        loop    1b
        cmpl    $37, %eax
        je      2f
        incl    %ebx
2:      jrcxz   3f
        incl    %ebx
3:

/* Flags that live across branches, and into a block that has no place to count without them. */
        stc
        movl    $3, %ecx
        jmp     4f
        ud2
4:      jc      5f
        incl    %ebx
5:      adcl    $0, %ecx
        cmpl    $4, %ecx
        je      6f
        incl    %ebx
6:
        xorl    %eax, %eax
        cmpl    $1, %eax
        jb      7f
        incl    %ebx
7:      jnc     8f
        jmp     9f
8:      incl    %ebx
9:

/* REPE CMPSB ends before rcx does, and what it leaves in flags is used. */
        leaq    text(%rip), %rsi
        leaq    other(%rip), %rdi
        movl    $16, %ecx
        repe    cmpsb
        jb      10f
        incl    %ebx
10:     cmpq    $10, %rcx
        je      11f
        incl    %ebx

/* No iteration: flags stay. */
11:     xorl    %ecx, %ecx
        stc
        repe    cmpsb
        jc      12f
        incl    %ebx

/* A loop without a free register, in a function that keeps something below its stack pointer. */
12:     movq    $41, -8(%rsp)
        movl    $1000, %ecx
        xorl    %eax, %eax
13:     addl    $2, %eax
        testl   $2, %eax
        jz      14f
        incl    %edx
14:     decl    %ecx
        jnz     13b
        cmpl    $2000, %eax
        je      15f
        incl    %ebx
15:     cmpq    $41, -8(%rsp)
        je      16f
        incl    %ebx

16:     call    where_am_i
        addl    %eax, %ebx
        movl    %ebx, %eax
        popq    %rbx
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   main, . - main

/* A copy would be elsewhere: this function stays. */
        .type   where_am_i, @function
where_am_i:
        .cfi_startproc
        call    17f
17:     popq    %rdx
        leaq    17b(%rip), %rcx
        xorl    %eax, %eax
        cmpq    %rdx, %rcx
        setne   %al
        ret
        .cfi_endproc
        .size   where_am_i, . - where_am_i

        .section .rodata
text:   .ascii  "abcdeXXXXXXXXXXX"
other:  .ascii  "abcdeYXXXXXXXXXX"
        .section .note.GNU-stack, "", @progbits
