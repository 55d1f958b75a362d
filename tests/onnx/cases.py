"""Writes the test suite that comes with the onnx package into a folder: kind/case/model.onnx, its data sets, and its tolerance.

    python tests/onnx/cases.py FOLDER
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case import model as models
from onnx.backend.test.case import node as nodes
from onnx.backend.test.runner import Runner

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
KINDS = {
    "map_type": numpy_helper.from_dict,
    "sequence_type": numpy_helper.from_list,
    "optional_type": numpy_helper.from_optional,
    "tensor_type": numpy_helper.from_array,
}


def message(value, of):
    if isinstance(value, onnx.TensorProto):
        return value
    return KINDS[of.type.WhichOneof("value")](value, of.name)


def write_set(folder, name, values, infos):
    for at, (value, of) in enumerate(zip(values, infos)):
        (folder / f"{name}_{at}.pb").write_bytes(message(value, of).SerializeToString())


def write(folder, model, data_sets, tolerance):
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    (folder / "tolerance").write_text("{} {}".format(*tolerance))
    for at, (inputs, outputs) in enumerate(data_sets):
        data = folder / f"test_data_set_{at}"
        data.mkdir()
        write_set(data, "input", inputs, model.graph.input)
        write_set(data, "output", outputs, model.graph.output)


def copy(folder, source):
    """A case that lies in the package as files."""
    for path in source.rglob("*"):
        if path.is_file():
            to = folder / path.relative_to(source)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(path.read_bytes())


def light(folder, path):
    """A network with made-up weights and input."""
    model = onnx.load(path)
    given = {it.name for it in model.graph.initializer}
    inputs = [it for it in model.graph.input if it.name not in given]
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(path.read_bytes())
    for at, it in enumerate(inputs):
        array = Runner.generate_dummy_data(it, name=path.stem)
        (data / f"input_{at}.pb").write_bytes(numpy_helper.from_array(array, it.name).SerializeToString())
    output = path.with_name(path.stem + "_output_0.pb")
    (data / "output_0.pb").write_bytes(output.read_bytes())


def main(target):
    for case in nodes.collect_testcases(None):
        if case.model is not None and case.data_sets:
            write(target / "node" / case.name, case.model, case.data_sets, (case.rtol, case.atol))
    for kind in ["pytorch-converted", "pytorch-operator", "simple"]:
        for source in sorted((DATA / kind).iterdir()):
            copy(target / kind / source.name, source)
    known = {path.name for path in (DATA / "simple").iterdir()}
    for case in models.collect_testcases() if hasattr(models, "collect_testcases") else []:
        if case.model is not None and case.kind == "simple" and case.name not in known:
            write(target / "simple" / case.name, case.model, case.data_sets, (case.rtol, case.atol))
    for path in sorted((DATA / "light").glob("*.onnx")):
        light(target / "light" / path.stem, path)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    main(Path(sys.argv[1]))
