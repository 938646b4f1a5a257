"""PyTorch kernels that are counted for their cost: ``tensors.py NAME N REPEATS``."""

import sys

import torch

name, n, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.manual_seed(1)
torch.set_num_threads(1)
with torch.inference_mode():
    if name in {"bf16", "fp32"}:
        kind = torch.bfloat16 if name == "bf16" else torch.float32
        a, b = torch.rand(n, n).to(kind), torch.rand(n, n).to(kind)
        for _ in range(repeats):
            c = a @ b
        print(float(c.float().sum()))
    elif name == "transformer":
        block = torch.nn.TransformerEncoderLayer(n, 8, 4 * n, batch_first=True).eval()
        x = torch.rand(4, 128, n)
        for _ in range(repeats):
            y = block(x)
        print(float(y.sum()))
    else:
        sys.exit(2)
