/* Code that no compiler makes, or seldom: what shapes.c calls. All take what the C side declares
 * and keep to the calling convention unless they say otherwise. */
        .text
        .macro begin name
        .globl \name
        .type \name, @function
\name:
        .cfi_startproc
        .endm
        .macro end name
        .cfi_endproc
        .size \name, . - \name
        .endm

/* Functions of 1 to 4 bytes, back to back: no room for a jump of five. */
        begin bytes_1
        ret
        end bytes_1
        begin bytes_2
        nop
        ret
        end bytes_2
        begin bytes_3
        xorl    %eax, %eax
        ret
        end bytes_3
        begin bytes_4
        leal    (%rdi, %rdi), %eax
        ret
        end bytes_4
        begin bytes_4_again
        leal    (%rdi, %rsi), %eax
        ret
        end bytes_4_again
        /* rax = rdi * 3, whose entry is a jump of two bytes. */
        begin bytes_short_jump
        jmp     1f
        end bytes_short_jump
        begin after_short_jump
        ret
        ret
        end after_short_jump
1:      leaq    (%rdi, %rdi, 2), %rax
        ret

/* Another function jumps three bytes behind the entry of this one: rax = rdi + 10, or rdi + 5. */
        .p2align 4
        begin entered_twice
        movq    %rdi, %rax
        addq    $5, %rax
        addq    $5, %rax
        ret
        end entered_twice
        begin enters_late
        leaq    5(%rdi), %rax
        jmp     entered_twice + 7
        end enters_late

/* No table says where this ends, and only pointers lead here. */
        .globl no_table
no_table:
        movl    $7, %eax
        cmpl    $3, %edi
        jb      2f
        movl    $9, %eax
2:      addl    %edi, %eax
        ret
        .byte 0x0f, 0x0b, 0xff, 0xff, 0x06  /* and data that is no code at all */

/* Data among the code: offsets of one byte from here, and text. */
        begin data_inside
        cmpl    $4, %edi
        jae     3f
        leaq    2f(%rip), %rcx
        movslq  %edi, %rdi
        movzbl  (%rcx, %rdi), %edx
        addq    %rdx, %rcx
        jmp     *%rcx
2:      .byte 10f - 2b, 11f - 2b, 12f - 2b, 13f - 2b
        .ascii  "\xe8\xe8\xe8\xe8 TEXT THAT LOOKS LIKE CALLS \xe9\xe9"
10:     movl    $100, %eax
        ret
11:     movl    $101, %eax
        ret
12:     movl    $102, %eax
        ret
13:     movl    $103, %eax
        ret
3:      movl    $-1, %eax
        ret
        end data_inside

/* Two instructions in the same bytes: EB FF C0 is a jump to its own second byte, FF C0. */
        begin overlapping
        movl    %edi, %eax
        .byte   0xeb, 0xff, 0xc0
        .byte   0xeb, 0xff, 0xc0
        cmpl    $3, %edi
        jb      1f + 1
1:      .byte   0x3d, 0xff, 0xc0, 0xc3, 0x90 /* cmp eax, imm32; inside: inc eax; ret; nop */
        addl    $1000, %eax
        ret
        end overlapping

/* Where am I? By a call to the next instruction, and by what follows a call. */
        begin call_and_pop
        call    1f
        .cfi_adjust_cfa_offset 8
1:      popq    %rax
        .cfi_adjust_cfa_offset -8
        movl    2f - 1b(%rax), %eax
        addl    %edi, %eax
        ret
2:      .long   123456
        end call_and_pop
        begin inline_argument
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    takes_inline
        .long   4711
        addl    %edi, %eax
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        ret
        end inline_argument
        begin takes_inline
        popq    %rcx
        movl    (%rcx), %eax
        addq    $4, %rcx
        jmp     *%rcx
        end takes_inline
        begin push_and_return
        leaq    bytes_4(%rip), %rax
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        ret
        end push_and_return

/* Jumps into a row of instructions of equal length: rax = 8 - rdi additions of 1. */
        begin computed_offset
        xorl    %eax, %eax
        leaq    1f(%rip), %rcx
        leaq    (%rcx, %rdi, 4), %rcx
        jmp     *%rcx
1:
        .rept 8
        leaq    1(%rax), %rax
        .endr
        ret
        end computed_offset

/* ---- flags that live across heads of blocks ---- */

/* rax = sum of rsi words at rdi, of 128 bits: the high half in rdx. CF lives through the loop. */
        begin carries
        xorl    %eax, %eax
        xorl    %edx, %edx
        movq    %rsi, %rcx
        testq   %rcx, %rcx
1:      adcq    (%rdi), %rax
        leaq    8(%rdi), %rdi
        decq    %rcx
        jnz     1b
        adcq    $0, %rdx
        ret
        end carries
/* OF and CF live through a loop of two chains: rdi += rsi * rdx, rcx words of it; rax: the rest. */
        begin two_chains
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        xorl    %eax, %eax
        xorl    %r8d, %r8d
1:      mulx    (%rsi), %r10, %r11
        adcx    %r8, %r10
        movq    (%rdi), %rbx
        adox    %rbx, %r10
        movq    %r10, (%rdi)
        movq    %r11, %r8
        leaq    8(%rdi), %rdi
        leaq    8(%rsi), %rsi
        leaq    -1(%rcx), %rcx
        jrcxz   2f
        jmp     1b
2:      movl    $0, %eax
        adcx    %rax, %r8
        adox    %rax, %r8
        movq    %r8, %rax
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        ret
        end two_chains
/* One comparison, many branches, each at the head of a block; parity too. */
        begin many_branches
        xorl    %eax, %eax
        cmpq    %rsi, %rdi
        jne     1f
        leaq    1(%rax), %rax
1:      jp      2f
        leaq    2(%rax), %rax
2:      jb      3f
        leaq    4(%rax), %rax
3:      jl      4f
        leaq    8(%rax), %rax
4:      jo      5f
        leaq    16(%rax), %rax
5:      js      6f
        leaq    32(%rax), %rax
6:      jrcxz   7f
        leaq    64(%rax), %rax
7:      setg    %dl
        movzbl  %dl, %edx
        leaq    (%rax, %rdx, 8), %rax
        seta    %dl
        movzbl  %dl, %edx
        leaq    (%rax, %rdx, 4), %rax
        ret
        end many_branches
/* AF, and all flags as LAHF and PUSHF see them, over a jump. */
        begin all_flags
        addb    %sil, %dil
        jmp     1f
        nop
1:      lahf
        seto    %al
        movzwl  %ax, %eax
        jmp     2f
        nop
2:      ret
        end all_flags
        begin pushed_flags
        addb    %sil, %dil
        jmp     1f
        nop
1:      pushfq
        .cfi_adjust_cfa_offset 8
        popq    %rax
        .cfi_adjust_cfa_offset -8
        andl    $0x8d5, %eax
        ret
        end pushed_flags
/* The red zone is full while flags live across heads of blocks, and no register is free:
   rax = a mix of rdi, rsi and the sixteen words below the stack. */
        begin red_zone
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r12, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r13, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r14, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %r15, 0
        i = 1
        .rept 16
        movq    $i * 7, -8 * i(%rsp)
        i = i + 1
        .endr
        movl    $1, %eax
        movl    $2, %ebx
        movl    $3, %ecx
        movl    $4, %edx
        movl    $5, %ebp
        movl    $8, %r8d
        movl    $9, %r9d
        movl    $10, %r10d
        movl    $11, %r11d
        movl    $12, %r12d
        movl    $13, %r13d
        movl    $14, %r14d
        movl    $15, %r15d
        cmpq    %rsi, %rdi
        je      1f
        movq    $77, -128(%rsp)
1:      jl      2f
        movq    $78, -120(%rsp)
2:      jb      3f
        movq    $79, -112(%rsp)
3:      jo      4f
        movq    $80, -8(%rsp)
4:      adcq    %rbx, %rax
        addq    %rcx, %rax
        addq    %rdx, %rax
        addq    %rbp, %rax
        addq    %r8, %rax
        addq    %r9, %rax
        addq    %r10, %rax
        addq    %r11, %rax
        addq    %r12, %rax
        addq    %r13, %rax
        addq    %r14, %rax
        addq    %r15, %rax
        addq    %rdi, %rax
        addq    %rsi, %rax
        i = 1
        .rept 16
        imulq   $3, %rax, %rax
        addq    -8 * i(%rsp), %rax
        i = i + 1
        .endr
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r15
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r14
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r13
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore %r12
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbp
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        ret
        end red_zone
/* Flags are the result of a function, and its arguments: hand-written code does so. */
        begin flags_returned
        call    compares_only
        seta    %al
        movzbl  %al, %eax
        stc
        call    adds_carry
        setc    %cl
        movzbl  %cl, %ecx
        leal    (%rax, %rcx, 2), %eax
        ret
        end flags_returned
        begin compares_only
        cmpq    %rsi, %rdi
        ret
        end compares_only
        begin adds_carry
        adcq    %rsi, %rdi
        ret
        end adds_carry

/* ---- loops and strings ---- */

        begin loops
        xorl    %eax, %eax
        movl    %edi, %ecx
        jecxz   2f
1:      addl    %ecx, %eax
        loop    1b
2:      movl    $10, %ecx
3:      incl    %eax
        cmpl    %esi, %ecx
        loopne  3b
        leal    (%rax, %rcx, 8), %eax
        movl    $10, %ecx
4:      leal    3(%rax), %eax
        testl   $1, %edi
        loope   4b
        leal    (%rax, %rcx, 4), %eax
        movq    $0x100000005, %rcx
5:      incl    %eax
        addr32 loop 5b
        addq    %rcx, %rax
        ret
        end loops
/* rdi and rsi: texts, rdx: their length; the flags of the last comparison live on. */
        begin strings
        movq    %rdx, %rcx
        movq    %rdi, %r8
        cmpq    %rcx, %rcx
        repe cmpsb
        seta    %al
        setb    %ah
        movzwl  %ax, %eax
        jmp     1f
        nop
1:      leaq    (%rax, %rcx, 4), %rax
        movq    %r8, %rdi
        movq    %rdx, %rcx
        movq    %rax, %r9
        movb    $'x', %al
        repne scasb
        jne     2f
        leaq    1000000(%r9), %r9
2:      leaq    (%r9, %rcx, 8), %rax
        cmpq    $5, %rdx        /* a comparison of nothing keeps these flags */
        movl    $0, %ecx
        repe cmpsb
        jae     3f
        leaq    3(%rax), %rax
3:      ret
        end strings
/* rdi <- rdx bytes of rsi, backwards; then set and copied by words. */
        begin backwards
        movq    %rdx, %rcx
        leaq    -1(%rdi, %rdx), %rdi
        leaq    -1(%rsi, %rdx), %rsi
        std
        rep movsb
        cld
        leaq    1(%rdi), %rdi
        movq    %rdx, %rcx
        shrq    $4, %rcx
        movl    $0x5a5a5a5a, %eax
        rep stosl
        movq    %rdi, %rax
        ret
        end backwards

/* ---- segments and the system ---- */

        begin swaps_fs            /* rax = fs:[rsi] with the base rdi */
        rdfsbase %rcx
        wrfsbase %rdi
        movq    %fs:(%rsi), %rax
        wrfsbase %rcx
        ret
        end swaps_fs
/* A system call keeps all registers but three: rax = a mix of them. */
        begin around_call
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        movl    $39, %eax
        movl    $100, %ebx
        movl    $101, %edx
        movl    $102, %r8d
        movl    $103, %r9d
        movl    $104, %r10d
        movl    $105, %esi
        movl    $106, %edi
        movq    $107, -8(%rsp)
        movq    $108, -128(%rsp)
        movq    %rdi, %xmm3
        stc
        syscall
        setc    %al
        movzbl  %al, %eax
        i = 3
        .irp r, rbx, rdx, r8, r9, r10, rsi, rdi
        imulq   $3, %rax, %rax
        addq    %\r, %rax
        .endr
        addq    -8(%rsp), %rax
        addq    -128(%rsp), %rax
        movq    %xmm3, %rcx
        addq    %rcx, %rax
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        ret
        end around_call
/* getpid as 32-bit programs call it. */
        begin old_call
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        movl    $20, %eax
        int     $0x80
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        ret
        end old_call
/* A transaction: adds 1 to (rdi), or says -1. */
        begin transaction
        movl    $-1, %eax
        xbegin  1f
        incq    (%rdi)
        xend
        xorl    %eax, %eax
        ret
1:      movl    $-1, %eax       /* the status says why, and may be 0 */
        ret
        end transaction
/* Adds 1 to the word of this CPU: rdi = struct rseq, rsi = words of 64 byte each. 0, or -1 where
   the kernel took the CPU away. */
        begin per_cpu
1:      leaq    3f(%rip), %rax
        movq    %rax, 8(%rdi)
10:     movl    4(%rdi), %eax
        shlq    $6, %rax
        movq    (%rsi, %rax), %rcx
        .rept 20
        leaq    (%rcx), %rcx
        .endr
        leaq    1(%rcx), %rcx
        movq    %rcx, (%rsi, %rax)
11:     movq    $0, 8(%rdi)
        xorl    %eax, %eax
        ret
        .long   0x53053053
12:     movl    $-1, %eax
        ret
        end per_cpu
        .section .data.rel.ro, "aw", @progbits
        .p2align 5
3:      .long   0, 0
        .quad   10b, 11b - 10b, 12b
        .text

/* ---- prefixes and forms ---- */

/* Operands relative to RIP in front of an immediate, short and long; odd encodings. */
        begin forms
        movl    %edi, counter(%rip)
        addl    $0x12345678, counter(%rip)
        addw    $0x1234, counter(%rip)
        addb    $7, counter(%rip)
        imull   $1000, counter(%rip), %eax
        cmpb    $3, counter(%rip)
        setb    %cl
        movzbl  %cl, %ecx
        addl    %ecx, %eax
        shll    $3, counter(%rip)
        addl    counter(%rip), %eax
        testl   $0x70000, counter(%rip)
        jz      1f
        addl    $1, %eax
1:      leaq    counter(%rip), %rcx
        .byte   0x67
        leal    counter(%rip), %edx    /* lea edx, [eip + x] */
        subl    %ecx, %edx
        addl    %edx, %eax
        movdqu  vector(%rip), %xmm0
        pextrw  $3, %xmm0, %ecx
        addl    %ecx, %eax
        roundsd $1, vector(%rip), %xmm0
        cvttsd2si %xmm0, %ecx
        addl    %ecx, %eax
        call    *pointer(%rip)
        .byte   0x48, 0x2e, 0xff, 0x15 /* rex.w cs call [rip + x] */
        .long   pointer - . - 4
        .byte   0x66, 0x66, 0x48
        call    adds_two
        .byte   0xf3
        ret
        end forms
        begin adds_two
        .byte   0xf3, 0x0f, 0x1e, 0xfa /* endbr64 */
        addl    $2, %eax
        ret     $0
        end adds_two
/* Jumps on through a pointer in memory, with every prefix in use. */
        begin jumps_on
        movl    %edi, %eax
        testl   %edi, %edi
        .byte   0x2e
        jz      1f                     /* with a hint */
        notrack jmp *pointer(%rip)
1:      bnd jmp *pointer(%rip)
        end jumps_on
        .data
        .p2align 3
pointer: .quad  adds_two
vector: .double 1234.75, 2.5
        .local  counter
        .comm   counter, 8, 8
        .section .note.GNU-stack, "", @progbits
