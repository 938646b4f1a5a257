"""Writes files as the counting engine does, from tuples; the layout is stated here again."""

import struct

HEADER = struct.pack("<8sII", b"RIDGEENG", 1, 0)
TAIL = struct.pack("<4sIQ", b"TAIL", 0, 0)


def section(tag, payload):
    """Return a section: tag, size, payload, and zeros up to a multiple of 8."""
    return struct.pack("<4sIQ", tag.encode(), 0, len(payload)) + payload + bytes(-len(payload) % 8)


def u64s(*numbers):
    """Return numbers of 64 bits."""
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def moved_row(bank, of, reads=(), writes=(), past=0):
    """Return lines read and written across the outer sides of caches, and bytes past them."""
    padded = [*reads, *[0] * (4 - len(reads)), *writes, *[0] * (4 - len(writes))]
    return struct.pack("<II9Q", bank, of, *padded, past)


class EngineFile:
    """What one process wrote; parts are added by methods that return the number of each."""

    def __init__(self, *, levels=0, line_bytes=64, pid=7, cause=0, status=0, continues=0):
        self.strings = [b""]
        self.process = u64s(pid, 1, cause, status, 1, 1, continues, 0)
        self.geometry = struct.pack("<II", levels, line_bytes)
        self.instructions = []
        self.banks = [()]
        self.executed, self.repeated, self.moved = [], [], []
        self.others = []  # sections that need not be

    def string(self, text):
        """Return the number of a string."""
        raw = text if isinstance(text, bytes) else text.encode()
        if raw not in self.strings:
            self.strings.append(raw)
        return self.strings.index(raw)

    def instruction(self, code, address, *, at=None, path="", function="", line=None):
        """Add an instruction by its bytes in hex; `line` is a source file and a number."""
        raw = bytes.fromhex(code)
        source, number = line or ("", 0)
        names = (self.string(path), self.string(function), self.string(source))
        head = struct.pack(
            "<QQIIIIB", address, address if at is None else at, *names, number, len(raw)
        )
        self.instructions.append(head + raw.ljust(15, b"\0"))
        return len(self.instructions) - 1

    def bank(self, *names):
        """Add a bank of these regions, outermost first."""
        self.banks.append(tuple(self.string(name) for name in names))
        return len(self.banks) - 1

    def run(self, instruction, passes, *, bank=0):
        """Say how often an instruction was passed."""
        self.executed.append(struct.pack("<IIQ", bank, instruction, passes))

    def repeat(self, instruction, iterations, ended=0, *, bank=0):
        """Say how often an instruction iterated, and how often a flag ended it."""
        self.repeated.append(struct.pack("<IIQQ", bank, instruction, iterations, ended))

    def move(self, instruction, reads, writes, past=0, *, bank=0):
        """Say what an instruction moved."""
        self.moved.append(moved_row(bank, instruction, reads, writes, past))

    def sections(self):
        """Return the sections by tag."""
        banks = b"".join(struct.pack(f"<{1 + len(b)}I", len(b), *b) for b in self.banks)
        strings = b"".join(text + b"\0" for text in self.strings)
        written = {
            "PROC": self.process,
            "GEOM": self.geometry,
            "STRS": struct.pack("<II", len(self.strings), 0) + strings,
            "INST": b"".join(self.instructions),
            "BANK": struct.pack("<I", len(self.banks)) + banks,
            "EXEC": b"".join(self.executed),
            "REPS": b"".join(self.repeated),
            "MOVE": b"".join(self.moved),
        }
        return {**written, **dict(self.others)}

    def written(self, **changes):
        """Return the file; `changes` replaces payloads by tag, None leaves a section out."""
        parts = {**self.sections(), **changes}
        kept = (section(tag, payload) for tag, payload in parts.items() if payload is not None)
        return HEADER + b"".join(kept) + TAIL
