"""Writes arenas and copies as the copying engine does; their layouts are stated here again."""

import struct

COUNTERS_AT = 4096 + 2 * 65536
NOBODY = (1 << 64) - 1


class ArenaFile:
    """What the processes of a run wrote; parts are added by methods that return their numbers."""

    def __init__(self, *, most_counters=1 << 12):
        self.names = b"\0"
        self.modules, self.events, self.samples, self.banks = [], [], [], []
        self.most_counters = most_counters
        self.without_bank = 0

    def name(self, text):
        """Return the offset of a string."""
        if not text:
            return 0
        at = len(self.names)
        self.names += text.encode() + b"\0"
        return at

    def module(self, path, copy, first, n, *, ready=1, process=NOBODY):
        """Add a module whose counters begin at a number."""
        row = (ready, self.name(path), self.name(str(copy)), 11, 22, first, n, process)
        self.modules.append(struct.pack("<8Q", *row))
        return len(self.modules) - 1

    def event(self, kind, process, *, a=0, b=0, c=0, d=0, name="", name2=""):
        """Add an event."""
        row = (kind, process, a, b, c, d, self.name(name), self.name(name2))
        self.events.append(struct.pack("<8Q", *row))

    def sample(self, process, address):
        """Add a sample."""
        self.samples.append(struct.pack("<2Q", process, address))

    def bank(self, process, counts, *, regions=(), tiles=bytes(64), samples=(0, 0, 0, 0, 0)):
        """Add a bank; counts are given by counter, samples by place: copy, original, ..."""
        head = struct.pack(
            "<8Q", 1, process, 100 + process, 200, self.name("\n".join(regions)), *(0,) * 3
        )
        self.banks.append((head + tiles + struct.pack("<6Q", *samples, 0), counts))

    def write(self, path):
        """Write the file, with holes where nothing is."""
        size = -(-(COUNTERS_AT + 8 * self.most_counters) // 4096) * 4096
        at, parts = 4096, []
        for rows, most, row_bytes in (
            (self.modules, 16, 64),
            (self.events, 64, 64),
            (self.samples, 64, 16),
            ([self.names], 1 << 16, 1),
        ):
            parts.append((at, most, b"".join(rows)))
            at += -(-most * row_bytes // 4096) * 4096
        header = struct.pack("<8sQ", b"RPARENA1", 1)
        header += b"".join(struct.pack("<QQ", begin, most) for begin, most, _ in parts)
        header += struct.pack("<4Q", at, 32, size, self.most_counters) + bytes(4 * 8 + 16 * 8)
        header = header.ljust(320, b"\0")
        used = (self.modules, self.events, self.samples, self.names, self.banks)
        for number in (*map(len, used), self.most_counters, 1, self.without_bank):
            header += struct.pack("<Q", number).ljust(64, b"\0")
        with path.open("wb") as file:
            file.truncate(at + 32 * size)
            file.write(header)
            for begin, _, content in parts:
                file.seek(begin)
                file.write(content)
            for number, (head, counts) in enumerate(self.banks):
                file.seek(at + number * size)
                file.write(head)
                for counter, count in counts.items():
                    file.seek(at + number * size + COUNTERS_AT + 8 * counter)
                    file.write(struct.pack("<Q", count))
        return path


BLOCK, MASK, ITERATIONS = range(3)


def copy_file(
    path,
    rows,
    *,
    lowest=0x400000,
    highest=0x402000,
    code=b"",
    places=(),
    lines=(),
    names=b"\0",
    sums=(),
    flags=0,
):
    """Write a copy: rows of address, bytes and kind; places of offset in the code and address.

    Lines are of address, offset of the source in names, and number; sums of row and term.
    """
    row_bytes = b"".join(
        struct.pack("<QIHHII", a, n, kind, 0, 0, 1 + shares[0] if shares else 0)
        for a, n, kind, *shares in rows
    )
    place_bytes = b"".join(struct.pack("<II", at, a - lowest) for at, a in places)
    line_bytes = b"".join(struct.pack("<III", a - lowest, file, line) for a, file, line in lines)
    sum_bytes = b"".join(struct.pack("<Ii", *one) for one in sums)
    sections = [(0, 0)] * 16
    at = 8 + 12 * 8 + 16 * 16 + 8
    for number, content, n in (
        (4, row_bytes, len(rows)),
        (5, place_bytes, len(places)),
        (9, line_bytes, len(lines)),
        (8, names, len(names)),
        (0, code, len(code)),
        (12, sum_bytes, len(sums)),
    ):
        sections[number] = (at, n)
        at += len(content)
    numbers = (at, 11, 22, 0, lowest, highest, 0, 0, flags, 0, 0, 0)
    header = struct.pack("<8s12Q", b"RPCOPY01", *numbers)
    header += b"".join(struct.pack("<QQ", *section) for section in sections) + bytes(8)
    path.write_bytes(header + row_bytes + place_bytes + line_bytes + names + code + sum_bytes)
    return path
