"""The quickstart runs under nbconvert and under the binary alone, learns enough, and gives the same numbers in both."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import nbformat
import pytest

ROOT = pathlib.Path(__file__).parents[2]


def binary():
    return os.environ.get("NOTEGRAD") or shutil.which("notegrad") or str(ROOT / "target/release/notegrad")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the notebook and its data, so that nothing is written into the checkout."""
    folder = tmp_path_factory.mktemp("quickstart")
    shutil.copy(ROOT / "notebooks/quickstart.ipynb", folder)
    shutil.copytree(ROOT / "notebooks/data", folder / "data")
    notebook = nbformat.read(folder / "quickstart.ipynb", as_version=4)
    cell = nbformat.v4.new_code_cell("print([round(it, 6) for it in eager_losses + traced_losses + cnn_losses])")
    notebook.cells.append(cell)
    nbformat.write(notebook, folder / "quickstart.ipynb")
    return folder


@pytest.fixture(scope="module")
def by_binary(folder):
    out, html = folder / "binary.ipynb", folder / "binary.html"
    command = [binary(), "run", folder / "quickstart.ipynb", "--out", out, "--html", html]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    assert "<html" in html.read_text()
    return nbformat.read(out, as_version=4)


@pytest.fixture(scope="module")
def by_nbconvert(folder):
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "notebook", "--output", "nbconvert.ipynb"]
    subprocess.run([*command, folder / "quickstart.ipynb"], check=True, capture_output=True, timeout=600)
    html = [sys.executable, "-m", "nbconvert", "--execute", "--to", "html", "--output", "nbconvert.html"]
    subprocess.run([*html, folder / "quickstart.ipynb"], check=True, capture_output=True, timeout=600)
    assert "Quickstart" in (folder / "nbconvert.html").read_text()
    return nbformat.read(folder / "nbconvert.ipynb", as_version=4)


def stdout(notebook):
    streams = [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs if o.output_type == "stream"]
    assert all(o.name == "stdout" for o in streams)
    return "".join(o.text for o in streams)


def losses(notebook):
    return json.loads(re.search(r"^\[.*\]$", stdout(notebook), re.M).group(0))


def test_the_networks_learn(by_binary):
    rates = [float(it) for it in re.findall(r"held out: ([\d.]+)% right", stdout(by_binary))]
    eager, compiled, convolutional = rates
    assert eager == compiled >= 89.0, rates
    assert convolutional >= eager + 1.0, rates


def test_the_first_output_says_something(by_binary):
    first = next(o for c in by_binary.cells if c.cell_type == "code" for o in c.outputs)
    assert "torch.Size([1437, 64])" in first.data["text/plain"]


def test_the_step_is_drawn_with_all_its_parts(by_binary):
    cell = next(c for c in by_binary.cells if c.source.startswith("%trace show"))
    text = cell.outputs[0].data["text/plain"]
    assert all(re.search(f"^{part} · ", text, re.M) for part in ["forward", "backward", "update"]), text
    for name in ["0.weight", "0.bias", "2.weight", "2.bias"]:
        assert f"compiled.{name}.grad" in text
    # Some of the 1350 calls are made as written, to see which way is quicker; 30 have a short batch.
    taken, calls = map(int, re.search("the path of ([0-9]+) of ([0-9]+) calls", text).groups())
    assert calls - 30 <= taken <= calls <= 1350, text


def test_both_ways_give_the_same_losses(by_binary, by_nbconvert):
    assert losses(by_binary) == losses(by_nbconvert)


def test_nothing_fails_and_everything_has_a_plain_form(by_nbconvert):
    for cell in by_nbconvert.cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            assert output.output_type == "stream" or "text/plain" in output.data


def test_the_words_about_branches_are_true(by_nbconvert):
    assert any("There are two branches" in cell.source for cell in by_nbconvert.cells)
    texts = [o.data["text/plain"] for c in by_nbconvert.cells for o in c.get("outputs", []) if "data" in o]
    lines = [line for text in texts for line in text.splitlines()]
    row = next(line for line in lines if line.startswith("fast_step  "))
    calls, branches = row.split()[1:3]
    assert (calls, branches) == ("1350", "2")
