"""Cut the table of sections off a program, as sstrip does: loaders need none."""

import sys
from pathlib import Path

path = Path(sys.argv[1])
content = bytearray(path.read_bytes())
end = int.from_bytes(content[0x28:0x30], "little")
content[0x28:0x30] = bytes(8)
content[0x3C:0x40] = bytes(4)
path.write_bytes(content[:end])
