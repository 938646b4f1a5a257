/* SPDX-License-Identifier: Apache-2.0 */
/* Code that the program made, as a file like a module's, with its functions and their unwind
 * tables. */
#include "append.h"
#include "identity.h"
#include "loader_made.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/syscall.h>

#define NAME_OF_ALL 23u /* in `names` */

typedef struct {
    Elf64_Ehdr header;
    Elf64_Phdr segments[2];
    Elf64_Shdr sections[5];
    char names[40];
} FileHead;

/* Where its parts are in the file. */
typedef struct {
    uint64_t code_bytes, frames, frames_bytes, symbols;
} Layout;

static void fill_head(FileHead *head, const Layout *layout) {
    static const char names[] = "\0.text\0.strtab\0.symtab\0[made]\0.eh_frame";
    const uint64_t n = layout->code_bytes;
    _Static_assert(sizeof names == sizeof head->names, "names");
    *head = (FileHead){
        .header = {.e_ident = {0x7F, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
                   .e_entry = CODE_AT + made_functions[0].begin,
                   .e_phoff = offsetof(FileHead, segments),
                   .e_shoff = offsetof(FileHead, sections), .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = layout->frames_bytes ? 2 : 1,
                   .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = layout->frames_bytes ? 5 : 4,
                   .e_shstrndx = 2},
        .segments = {{.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = CODE_AT,
                      .p_vaddr = CODE_AT, .p_paddr = CODE_AT, .p_filesz = n, .p_memsz = n,
                      .p_align = 4096},
                     {.p_type = PT_LOAD, .p_flags = PF_R, .p_offset = layout->frames,
                      .p_vaddr = FRAMES_AT, .p_paddr = FRAMES_AT,
                      .p_filesz = layout->frames_bytes, .p_memsz = layout->frames_bytes,
                      .p_align = 4096}},
        .sections = {{0},
                     {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                      .sh_addr = CODE_AT, .sh_offset = CODE_AT, .sh_size = n, .sh_addralign = 64},
                     {.sh_name = 7, .sh_type = SHT_STRTAB, .sh_offset = offsetof(FileHead, names),
                      .sh_size = sizeof names, .sh_addralign = 1},
                     {.sh_name = 15, .sh_type = SHT_SYMTAB, .sh_offset = layout->symbols,
                      .sh_size = (1 + n_made_functions) * sizeof(Elf64_Sym),
                      .sh_link = 2, .sh_info = 1, .sh_addralign = 8,
                      .sh_entsize = sizeof(Elf64_Sym)},
                     {.sh_name = 30, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
                      .sh_addr = FRAMES_AT, .sh_offset = layout->frames,
                      .sh_size = layout->frames_bytes, .sh_addralign = 8}},
    };
    memcpy(head->names, names, sizeof names);
}

static void append_symbols(Array *file) {
    array_add(file, sizeof(Elf64_Sym));
    for (uint64_t i = 0; i < n_made_functions; i++) {
        const Elf64_Sym symbol = {
            .st_name = NAME_OF_ALL, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
            .st_shndx = 1, .st_value = CODE_AT + made_functions[i].begin,
            .st_size = made_functions[i].end - made_functions[i].begin};
        append_bytes(file, (const uint8_t *)&symbol, sizeof symbol);
    }
}

/* False: what was registered is not there any more. */
static bool append_frames(Array *file, const Layout *layout, uint64_t bias) {
    bool has_any = false;
    for (uint64_t i = 0; i < n_made_functions; i++) {
        const MadeFrame *frame = made_functions[i].frame;
        if (frame && !frames_append(frame, FRAMES_AT - layout->frames, bias, file)) {
            return false;
        }
        has_any |= frame != NULL;
    }
    if (has_any) {
        append_number(file, 0, 8); /* the end */
    }
    return true;
}

/* A module of the functions that were found. */
static bool make_file(const uint8_t *code, uint64_t n, Array *file) {
    FileHead head;
    Layout layout = {.code_bytes = n};
    array_begin(file, 1);
    array_add(file, CODE_AT);
    append_bytes(file, code, n);
    append_until(file, 4096);
    layout.frames = file->n;
    if (!append_frames(file, &layout, (uint64_t)code - CODE_AT)) {
        return false;
    }
    layout.frames_bytes = file->n - layout.frames;
    append_until(file, 8);
    layout.symbols = file->n;
    append_symbols(file);
    if (file->failed) {
        return false;
    }
    fill_head(&head, &layout);
    memcpy(file->items, &head, sizeof head);
    return true;
}

static bool write_all(int64_t file, const void *bytes, uint64_t n, uint64_t at) {
    while (n) {
        const int64_t done = kernel(SYS_pwrite64, (uint64_t)file, (uint64_t)bytes, n, at, 0, 0);
        if (done <= 0) {
            return false;
        }
        bytes = (const uint8_t *)bytes + done;
        n -= (uint64_t)done;
        at += (uint64_t)done;
    }
    return true;
}

/* It is as old as can be: it does not change. */
static bool write_there(const char *path, const Array *content) {
    char unfinished[4200];
    const uint64_t long_ago[4] = {0};
    size_t length = text_add(unfinished, 0, sizeof unfinished, path);
    length = text_add(unfinished, length, sizeof unfinished, "-");
    text_add_number(unfinished, length, sizeof unfinished, (uint64_t)process.pid, 10, 1);
    const int64_t file = call_open(unfinished, O_WRONLY | O_CREAT | O_TRUNC);
    if (file < 0) {
        return false;
    }
    const bool is_written = write_all(file, content->items, content->n, 0)
        && !kernel(SYS_utimensat, (uint64_t)file, 0, (uint64_t)long_ago, 0, 0, 0);
    call_close(file);
    if (!is_written || kernel(SYS_rename, (uint64_t)unfinished, (uint64_t)path, 0, 0, 0, 0)) {
        kernel(SYS_unlink, (uint64_t)unfinished, 0, 0, 0, 0, 0);
        return false;
    }
    return true;
}

/* Under the name that its content has. */
bool made_write_file(const uint8_t *code, uint64_t n, char *path, size_t room) {
    Array file;
    uint64_t identity[2];
    bool is_there = make_file(code, n, &file);
    if (is_there) {
        identity_of_content(file.items, file.n, identity);
        size_t length = text_add(path, 0, room, arena_text(process.arena->folder_name));
        length = text_add(path, length, room, "/made-");
        length = text_add_number(path, length, room, identity[0], 16, 16);
        text_add_number(path, length, room, identity[1], 16, 16);
        const int64_t before = call_open(path, O_RDONLY);
        call_close(before);
        is_there = before >= 0 || write_there(path, &file);
    }
    array_end(&file);
    return is_there;
}
