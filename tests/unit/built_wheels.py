"""Wheels made by hand, good and bad, and compiled files with the needs that a test asks for."""

import base64
import hashlib
import json
import subprocess
import zipfile

GCC = ("gcc", "-shared", "-fPIC", "-nostdlib", "-Wl,-z,noexecstack", "-Wl,--build-id=none")

TABLE = """
[[tool]]
name = "the tool"
licence = "MIT"
texts = ["LICENSE"]
files = ["tool/*.py", "tool/*.c", "tool/bin/*"]

[[tool]]
name = "charts"
licence = "ISC"
texts = ["charts.txt"]
files = ["tool/charts.js"]
others = "npm"

[[tool]]
name = "the engine"
licence = "GPL-2.0-or-later"
texts = ["COPYING"]
files = ["tool/engine/*"]
compiled = true
"""

METADATA = """Metadata-Version: 2.4
Name: tool
Version: 1.0
License-Expression: MIT AND ISC AND GPL-2.0-or-later
License-File: COPYING
License-File: LICENSE
License-File: charts.txt
"""

FILES = {
    "tool/__init__.py": b"pass\n",
    "tool/charts.js": b"draw()\n",
    "tool-1.0.dist-info/METADATA": METADATA.encode(),
    "tool-1.0.dist-info/licenses/LICENSE": b"Do as you like.\n",
    "tool-1.0.dist-info/licenses/COPYING": b"Share.\n",
    "tool-1.0.dist-info/licenses/charts.txt": b"chart 1.2.3 (ISC): as they like.\n",
}
"""Of a wheel with nothing wrong; RECORD, WHEEL and the bill of materials come by themselves."""


def bill(*components, name="tool", version="1.0"):
    """Return a bill of materials with as much as the check reads."""
    return json.dumps(
        {
            "metadata": {"component": {"name": name, "version": version}},
            "components": [{"purl": purl, "version": v} for purl, v in components],
        }
    ).encode()


def make_wheel(
    folder,
    *,
    platform="any",
    files=None,
    without=(),
    modes=None,
    name="tool-1.0-py3-none",
    tags=None,
    changed_after_record=None,
    time=(2026, 11, 24, 0, 0, 0),
):
    """Write a wheel with some files more, less or other than a good one, and return its path."""
    content = {**FILES, **(files or {})}
    places = platform.split(".")
    content["tool-1.0.dist-info/WHEEL"] = "".join(
        [
            "Wheel-Version: 1.0\n",
            f"Root-Is-Purelib: {'true' if platform == 'any' else 'false'}\n",
            *(f"Tag: {tag}\n" for tag in tags or [f"py3-none-{place}" for place in places]),
        ]
    ).encode()
    content.setdefault(
        "tool-1.0.dist-info/sboms/tool.cdx.json", bill(("pkg:npm/chart@1.2.3", "1.2.3"))
    )
    content = {name: data for name, data in content.items() if name not in without}
    record = "tool-1.0.dist-info/RECORD"
    lines = [f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in content.items()]
    if record not in without:
        content[record] = "".join([*lines, f"{record},,\n"]).encode()
    content.update(changed_after_record or {})
    path = folder / f"{name}-{platform}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, data in content.items():
            entry = zipfile.ZipInfo(file, time)
            entry.create_system = 3
            entry.external_attr = (0o100000 | (modes or {}).get(file, 0o644)) << 16
            archive.writestr(entry, data)
    return path


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def library_for_glibc(folder, version, *flags):
    """Return a library that needs a symbol of some glibc: linked with one that has nothing else."""
    (folder / "script").write_text(f"GLIBC_{version} {{ strlcpy; }};\n")
    (folder / "libc.c").write_text("void strlcpy(void) {}\n")
    (folder / "uses.c").write_text("void strlcpy(void); void use(void) { strlcpy(); }\n")
    script = f"-Wl,--version-script={folder / 'script'}"
    libc = folder / "libc.so.6"
    _run(*GCC, script, "-Wl,-soname,libc.so.6", "-o", libc, folder / "libc.c")
    _run(*GCC, *flags, "-o", folder / "uses.so", folder / "uses.c", libc)
    return (folder / "uses.so").read_bytes()


def freestanding(folder, *flags):
    """Return a program that needs no library at all."""
    (folder / "alone.c").write_text("void _start(void) { for (;;); }\n")
    alone = ("-static", "-nostdlib", "-Wl,-z,noexecstack", "-Wl,--build-id=none", *flags)
    _run("gcc", *alone, "-o", folder / "alone", folder / "alone.c")
    return (folder / "alone").read_bytes()


def _run(*command):
    subprocess.run(list(map(str, command)), check=True)
