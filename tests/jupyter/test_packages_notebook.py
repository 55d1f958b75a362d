"""The notebook on packages runs in the binary alone, with the Python of these tests: tables, figures, models and functions that are called back."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from conftest import binary

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packages")
    shutil.copy(ROOT / "notebooks/packages.ipynb", folder)
    shutil.copytree(ROOT / "notebooks/data", folder / "data")
    command = [binary(), "run", folder / "packages.ipynb", "--out", folder / "ran.ipynb"]
    ran = subprocess.run(command, env=os.environ | {"VIRTUAL_ENV": sys.prefix}, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    notebook = nbformat.read(folder / "ran.ipynb", as_version=4)
    return [it for it in notebook.cells if it.cell_type == "code"]


def forms(cell):
    return {media for it in cell.outputs if "data" in it for media in it.data}


def text(cells):
    return "".join(it.text for cell in cells for it in cell.outputs if it.output_type == "stream")


def cell_with(cells, words):
    return next(it for it in cells if words in it.source)


def test_tables_and_figures_are_shown(cells):
    for words in ("frame.iloc", "groupby", "baseline = ", "confusion_matrix(y"):
        assert "text/html" in forms(cell_with(cells, words)), words
    assert "image/png" in forms(cell_with(cells, "plot.bar"))


def test_the_network_beats_the_linear_model(cells):
    network, linear = map(float, re.search(r"network: ([\d.]+)%, logistic regression: ([\d.]+)%", text(cells)).groups())
    assert network > linear > 95


def test_functions_are_called_back(cells):
    assert re.search(r"\[1\. 1\.\] after \d+ calls", text(cells))
    assert "caught: division by zero" in text(cells)


def test_names_go_through_a_cell_of_python(cells):
    assert "in Python: ndarray (597,)" in text(cells)
    counts = re.findall(r"\((\d), \d+\)", cells[-1].outputs[0].data["text/plain"])
    assert len(set(counts)) == 3
