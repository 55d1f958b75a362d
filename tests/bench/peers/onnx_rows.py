"""Inference in ONNX Runtime, of what PyTorch exports: rows of the workload `networks` under their names.

    python3 tests/bench/peers/onnx_rows.py THREADS
"""

import contextlib
import io

import onnxruntime
from common import THREADS, clock, texts

CLOCK = clock()
NETS = {}
exec(texts("clock", "torch", "nets"), NETS)
torch = NETS["torch"]


def measure(name, model, x):
    model = NETS["fill"](model).eval()
    file = io.BytesIO()
    with contextlib.redirect_stdout(io.StringIO()):
        torch.onnx.export(model, (x,), file, input_names=["x"], dynamo=False)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(file.getvalue(), options, providers=["CPUExecutionProvider"])
    feed = {"x": x.numpy()}
    CLOCK["checks"][f"{name} traced"] = float((session.run(None, feed)[0] ** 2).mean())
    CLOCK["results"][f"{name} traced"] = CLOCK["seconds"](lambda: session.run(None, feed), 1.5)


spread = NETS["spread"]
measure("resnet18", NETS["resnet18"](), spread(3 * 224 * 224, 1.0).reshape(1, 3, 224, 224))
measure("vit block", NETS["Block"](768, 12, False), spread(197 * 768, 1.0).reshape(1, 197, 768))
CLOCK["report"]()
