/* SPDX-License-Identifier: Apache-2.0 */
/* What copied code jumps to and calls: from here to C with all of the program's registers kept.
 * Layouts of Bank and Thread are asserted in loader_banks.c. */

#define BANK_TID 24
#define BANK_THREAD 48
#define BANK_IS_FREE 56
#define BANK_SLOT_CALL 304
#define SYSTEM_CALLS_AT 133120
#define THREAD_ALIVE 0
#define THREAD_TIMER 8
#define CALL_TIMER_DELETE 226
#define CALL_GETTID 186
#define CALL_EXIT 60

        .text

        .macro begin name
        .globl \name
        .hidden \name
        .type \name, @function
        .balign 16
\name:
        .cfi_startproc
        .endm

        .macro end name
        .cfi_endproc
        .size \name, . - \name
        .endm

/* As struct Frame; rbx is kept to come back by. `below`: what of the stack belongs to the program
 * and is still to be stepped over. `cfa`: how far above is what unwinders call the frame's address. */
        .macro save below, cfa
        leaq -\below(%rsp), %rsp
        .cfi_def_cfa_offset \cfa
        pushfq
        .cfi_adjust_cfa_offset 8
        pushq %rax
        .cfi_adjust_cfa_offset 8
        pushq %rcx
        .cfi_adjust_cfa_offset 8
        .if \below
        .cfi_offset %rip, -(\cfa + 24) /* goes on at rcx */
        .endif
        pushq %rdx
        .cfi_adjust_cfa_offset 8
        pushq %rsi
        .cfi_adjust_cfa_offset 8
        pushq %rdi
        .cfi_adjust_cfa_offset 8
        pushq %r8
        .cfi_adjust_cfa_offset 8
        pushq %r9
        .cfi_adjust_cfa_offset 8
        pushq %r10
        .cfi_adjust_cfa_offset 8
        pushq %r11
        .cfi_adjust_cfa_offset 8
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_offset %rbx, -(\cfa + 88)
        leaq 8(%rsp), %rdi
        movq %rsp, %rbx
        .cfi_def_cfa_register %rbx
        andq $-16, %rsp
        cld
        .endm

        .macro restore below
        movq %rbx, %rsp
        .cfi_def_cfa_register %rsp
        popq %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        popq %r11
        .cfi_adjust_cfa_offset -8
        popq %r10
        .cfi_adjust_cfa_offset -8
        popq %r9
        .cfi_adjust_cfa_offset -8
        popq %r8
        .cfi_adjust_cfa_offset -8
        popq %rdi
        .cfi_adjust_cfa_offset -8
        popq %rsi
        .cfi_adjust_cfa_offset -8
        popq %rdx
        .cfi_adjust_cfa_offset -8
        popq %rcx
        .cfi_adjust_cfa_offset -8
        .if \below
        .cfi_register %rip, %rcx
        .endif
        popq %rax
        .cfi_adjust_cfa_offset -8
        popfq
        .cfi_adjust_cfa_offset -8
        leaq \below(%rsp), %rsp
        .cfi_adjust_cfa_offset -\below
        .endm

/* Jumped to: what unwinders take for the caller is where it goes on. */
        .macro goes_on_at_rcx
        .cfi_def_cfa %rsp, 0
        .cfi_register %rip, %rcx
        .endm

/* Called 128 bytes below the program's stack. */
        .macro called_below
        .cfi_def_cfa_offset 136
        .cfi_offset %rip, -136
        .endm

/* ---- system calls: rcx is where to go on; r11 is free, no flag is ---- */

        begin hook_system_call
        goes_on_at_rcx
        movq %rax, %gs:BANK_SLOT_CALL
        movzbl %al, %r11d
        jmp *%gs:SYSTEM_CALLS_AT(,%r11,8)
        end hook_system_call

        begin hook_system_call_plain
        goes_on_at_rcx
        jmp *%rcx
        end hook_system_call_plain

        begin hook_system_call_seen
        goes_on_at_rcx
        save 128, 128
        call system_call_begins
        restore 128
        jmp *%rcx
        end hook_system_call_seen

/* Some threads have no stack any more when they end. */
        begin hook_exit
        movq %rcx, %r11
        leaq -CALL_EXIT(%rax), %rcx
        jrcxz 1f
        jmp *%r11
1:      movq %rdi, %r12
        cmpb $0, is_quiet(%rip)
        jne 4f
        movl $CALL_GETTID, %eax
        syscall
        cmpq %gs:BANK_TID, %rax
        jne 2f /* a child that shares its parent's bank */
        movq %gs:BANK_THREAD, %rbx
        testq %rbx, %rbx
        jz 2f
        movslq THREAD_TIMER(%rbx), %rdi
        testq %rdi, %rdi
        js 3f
        movl $CALL_TIMER_DELETE, %eax
        syscall
3:      movq %gs:0, %rsp /* between the ring and the table there is room */
        addq $SYSTEM_CALLS_AT, %rsp
        call thread_leaves
4:      movq %gs:BANK_THREAD, %rbx
        testq %rbx, %rbx
        jz 2f
        movq $1, %gs:BANK_IS_FREE
        lock decq threads_alive(%rip)
        movq $0, THREAD_ALIVE(%rbx)
2:      movq %r12, %rdi
        movl $CALL_EXIT, %eax
        syscall
        ud2
        end hook_exit

        begin hook_after_clone
        goes_on_at_rcx
        save 128, 128
        call system_call_returned
        restore 128
        jmp *%rcx
        end hook_after_clone

/* ---- called with everything to be preserved, below the program's part of the stack ---- */

        begin hook_request
        called_below
        save 0, 136
        call request_seen
        restore 0
        ret
        end hook_request

        begin hook_tiles
        called_below
        save 0, 136
        call tiles_seen
        restore 0
        ret
        end hook_tiles

        begin hook_ring_full
        called_below
        save 0, 136
        call ring_is_full
        restore 0
        ret
        end hook_ring_full

        begin hook_entered
        called_below
        save 0, 136
        call function_entered
        restore 0
        ret
        end hook_entered

        begin hook_left
        called_below
        save 0, 136
        call function_left
        restore 0
        ret
        end hook_left

        .globl hook_return_from_signal
        .hidden hook_return_from_signal
hook_return_from_signal:
        movl $15, %eax
        syscall

/* What the kernel calls for the program's handlers: rsp is its frame, rdi the signal, rdx the
   context. The handler returns to hook_signal_over. */
#define KEPT 376 /* struct Kept, and 8 to keep the stack aligned */
        begin hook_signal
        subq $KEPT, %rsp
        .cfi_adjust_cfa_offset KEPT
        pushq %rdi
        .cfi_adjust_cfa_offset 8
        pushq %rsi
        .cfi_adjust_cfa_offset 8
        pushq %rdx
        .cfi_adjust_cfa_offset 8
        movq %rdx, %rsi
        leaq 24(%rsp), %rdx
        subq $8, %rsp
        .cfi_adjust_cfa_offset 8
        cld
        call signal_begins
        addq $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq %rdx
        .cfi_adjust_cfa_offset -8
        popq %rsi
        .cfi_adjust_cfa_offset -8
        popq %rdi
        .cfi_adjust_cfa_offset -8
        leaq hook_signal_over(%rip), %rcx
        pushq %rcx
        .cfi_adjust_cfa_offset 8
        jmp *%rax
        end hook_signal

/* Register `number` of DWARF is at the CFA's place + `at`, as __restore_rt of libc tells it. */
#define CONTEXT (KEPT + 8)
        .macro from_context number, at
        .cfi_escape 0x10, \number, 3, 0x77, ((CONTEXT + 40 + \at) & 0x7f) | 0x80, (CONTEXT + 40 + \at) >> 7
        .endm

        .type hook_signal_ends, @function
hook_signal_ends:
        .cfi_startproc
        .cfi_signal_frame
        .cfi_escape 0x0f, 4, 0x77, ((CONTEXT + 160) & 0x7f) | 0x80, (CONTEXT + 160) >> 7, 0x06
        from_context 8, 0
        from_context 9, 8
        from_context 10, 16
        from_context 11, 24
        from_context 12, 32
        from_context 13, 40
        from_context 14, 48
        from_context 15, 56
        from_context 5, 64
        from_context 4, 72
        from_context 6, 80
        from_context 3, 88
        from_context 1, 96
        from_context 0, 104
        from_context 2, 112
        from_context 7, 120
        from_context 16, 128
        nop /* unwinders look for what is before a return address */
hook_signal_over:
        leaq CONTEXT(%rsp), %rdi
        movq %rsp, %rsi
        cld
        call signal_ends
        leaq CONTEXT(%rsp), %rsp
        movl $15, %eax
        syscall
        .cfi_endproc
        .size hook_signal_ends, . - hook_signal_ends

        begin hook_none
        ret
        end hook_none

/* ---- entries of functions, with their arguments; r11: what to go on with in the copy ---- */

        .macro keep_arguments
        pushq %rdi
        .cfi_adjust_cfa_offset 8
        pushq %rsi
        .cfi_adjust_cfa_offset 8
        pushq %rdx
        .cfi_adjust_cfa_offset 8
        pushq %rcx
        .cfi_adjust_cfa_offset 8
        pushq %r8
        .cfi_adjust_cfa_offset 8
        pushq %r9
        .cfi_adjust_cfa_offset 8
        pushq %r11
        .cfi_adjust_cfa_offset 8
        .endm

        .macro take_arguments
        popq %r11
        .cfi_adjust_cfa_offset -8
        popq %r9
        .cfi_adjust_cfa_offset -8
        popq %r8
        .cfi_adjust_cfa_offset -8
        popq %rcx
        .cfi_adjust_cfa_offset -8
        popq %rdx
        .cfi_adjust_cfa_offset -8
        popq %rsi
        .cfi_adjust_cfa_offset -8
        popq %rdi
        .cfi_adjust_cfa_offset -8
        .endm

        begin hook_find_object
        keep_arguments
        call find_object
        take_arguments
        testl %eax, %eax
        jz 1f
        xorl %eax, %eax
        ret
1:      jmp *%r11
        end hook_find_object

        begin hook_iterate_phdr
        movq %r11, %rdx
        jmp iterate_phdr
        end hook_iterate_phdr

        begin hook_get_ip
        movq (%rsp), %rsi
        movq %r11, %rdx
        jmp get_ip
        end hook_get_ip

        begin hook_get_start
        movq (%rsp), %rsi
        movq %r11, %rdx
        jmp get_start
        end hook_get_start

        begin hook_addr
        keep_arguments
        call original_address
        take_arguments
        movq %rax, %rdi
        jmp *%r11
        end hook_addr

        begin hook_register_frame
        keep_arguments
        call frames_are_registered
        take_arguments
        jmp *%r11
        end hook_register_frame

/* The function looks where it returns to: let it return to a RET in the caller's own module, and
   from there to another (which keeps the stack aligned), and from there to the copy. */
        begin hook_caller
        keep_arguments
        movq 56(%rsp), %rdi
        call return_in_original
        take_arguments
        testq %rax, %rax
        jz 1f
        pushq %rax
        pushq %rax
1:      jmp *%r11
        end hook_caller

        .section .note.GNU-stack, "", @progbits
