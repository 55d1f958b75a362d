"""The course: each notebook runs and shows what its text says; nbgrader releases it and grades it, with no settings of its own.

Submissions are made of what was released: `right` has the solutions filled in, `empty` is as released, `near` has one answer that holds
for the tests that a student sees and for no others.
"""

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
SOURCE = ROOT / "notebooks/course/source"
NAMES = sorted(it.parent.name for it in SOURCE.glob("*/*.ipynb"))
MARKS = re.compile(r"### (BEGIN|END) (SOLUTION|HIDDEN TESTS)")
HIDDEN = re.compile(r"^### BEGIN HIDDEN TESTS\n.*?^### END HIDDEN TESTS\n?", re.M | re.S)
MEASURED = ["%fastrun", "%mem", "%prun", "%time", "%trace status", "progress("]
REGION = re.compile(r"^[ ]*### BEGIN (?:SOLUTION|HIDDEN TESTS)\n(.*?)^[ ]*### END", re.M | re.S)


def source_of(name):
    return nbformat.read(SOURCE / name / f"{name}.ipynb", as_version=4)


def role(cell):
    """`solution`, `test`, or nothing for what is only to be read."""
    marks = cell.metadata.get("nbgrader", {})
    return "solution" if marks.get("solution") else "test" if marks.get("grade") else None


def with_role(notebook, wanted):
    return {it.metadata.nbgrader.grade_id: it for it in notebook.cells if role(it) == wanted}


def text(cell):
    return "".join(it.text for it in cell.outputs if it.output_type == "stream")


def test_there_are_seven():
    assert [it[:2] for it in NAMES] == [f"{at:02}" for at in range(1, 8)]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_stored_as_it_was_written(name):
    notebook = source_of(name)
    nbformat.validate(notebook)
    code = [it for it in notebook.cells if it.cell_type == "code"]
    assert all(not it.outputs and it.execution_count is None for it in code)
    assert 3 <= len(with_role(notebook, "solution")) <= 6
    assert {f"test-{it}" for it in with_role(notebook, "solution")} == set(with_role(notebook, "test"))
    for cell in notebook.cells:
        found = MARKS.findall(cell.source)
        kind = {"solution": "SOLUTION", "test": "HIDDEN TESTS"}.get(role(cell))
        assert found == [("BEGIN", kind), ("END", kind)] * (len(found) // 2)
        assert bool(found) == bool(kind), cell.source


def run_in(folder, name, notebook):
    """The code cells of a notebook, run by the binary alone."""
    shutil.copytree(SOURCE / name, folder, dirs_exist_ok=True)
    nbformat.write(notebook, folder / f"{name}.ipynb")
    command = [binary(), "run", f"{name}.ipynb", "--out", "ran.ipynb"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    cells = nbformat.read(folder / "ran.ipynb", as_version=4).cells
    return [it for it in cells if it.cell_type == "code"]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Gives what a notebook shows; each runs once."""
    kept = {}

    def run(name):
        if name not in kept:
            kept[name] = run_in(tmp_path_factory.mktemp(name), name, source_of(name))
        return kept[name]

    return run


def cell_with(cells, words):
    return next(it for it in cells if words in it.source)


def numbers(pattern, cells):
    return [float(it) for it in re.search(pattern, "".join(map(text, cells))).groups()]


@pytest.mark.parametrize("name", NAMES)
def test_it_runs(ran, name):
    cells = ran(name)
    for cell in cells:
        for output in cell.outputs:
            assert output.output_type != "error"
            assert output.output_type != "stream" or output.name == "stdout"
        # nbgrader takes the result of a test cell for a number of points.
        assert role(cell) != "test" or all(it.output_type != "execute_result" for it in cell.outputs)
    drawn = [it for it in cells if "plt.show()" in it.source]
    assert drawn and all(any("text/html" in it.get("data", {}) for it in cell.outputs) for cell in drawn)


@pytest.mark.parametrize("name", NAMES)
def test_learners_see_what_the_source_shows(ran, name, tmp_path):
    """What hidden tests bind and draw changes nothing for the cells after them."""
    notebook = source_of(name)
    for cell in notebook.cells:
        cell.source = HIDDEN.sub("", cell.source)
    shown = lambda cell: [it.get("text") or it.data["text/plain"] for it in cell.outputs]
    for ours, theirs in zip(ran(name), run_in(tmp_path, name, notebook), strict=True):
        if role(ours) != "test" and not any(it in ours.source for it in MEASURED):
            assert shown(ours) == shown(theirs), ours.source


def test_the_optimisers_rank_as_the_text_says(ran):
    pattern = r"SGD +loss ([\d.]+).*\nmomentum +loss ([\d.]+).*\nAdam +loss ([\d.]+)"
    sgd, momentum, adam = numbers(pattern, ran("03-optimiser"))
    assert sgd > 0.6 and adam < momentum < 0.1


def test_the_cnn_learns(ran):
    cnn, linear = numbers(r"CNN: ([\d.]+)% .* linear: ([\d.]+)%", ran("04-cnn"))
    assert cnn >= linear + 3 > 80, (cnn, linear)


def test_the_compiler_does_what_the_text_says(ran):
    cells = ran("05-compiler")
    shown = lambda words: "".join(it.data["text/plain"] for it in cell_with(cells, words).outputs)
    assert "plan: 1 launches" in shown("%trace show fast_finish --stage plan")
    assert "exp(" in shown("%trace show wasteful --stage raw")
    tidied = shown("%trace show wasteful --stage optimized")
    assert "exp(" not in tidied and tidied.count("tanh(") == 1
    arena, without = re.search(r"arena (\d+) bytes .*without reuse (\d+)", shown("%trace show deep_forward")).groups()
    assert int(without) == 1.5 * int(arena)
    step = shown("%trace show fast_step --stage plan")
    places = re.findall(r" at (arena\+\d+)", step)
    assert len(set(places)) < len(places), step
    peaks = re.findall(r"([\d.]+) MB at most", "".join(it.outputs[0].data["text/plain"] for it in cells if "%mem" in it.source))
    assert len(peaks) == 4 and float(peaks[1]) > float(peaks[3]), peaks
    assert "graphs: 2" in text(cell_with(cells, "def tame"))
    assert "scaled: 1  powers: 3" in text(cell_with(cells, "def powers"))


def test_the_transformer_beats_the_guessers(ran):
    cells = ran("06-transformer")
    nothing, frequencies, one_back = numbers(r"nothing ([\d.]+) +knows frequencies ([\d.]+) +looks one back ([\d.]+)", cells)
    training, test = numbers(r"training ([\d.]+) +test ([\d.]+)", cells)
    assert training < test < one_back - 0.3 < frequencies < nothing


def test_the_patients_are_ill(ran):
    cells = ran("07-debugging")
    assert numbers(r"loss [\d.]+ -> ([\d.]+), right", cells)[0] < 0.01
    assert numbers(r"true pairs right: (\d+)%", cells)[0] < 50
    assert re.search(r"cell \d+, line 2", text(cell_with(cells, "except RuntimeError")))
    warned = cell_with(cells, "# shows: warning[softmax-loss]").outputs[0]
    assert warned.data["text/plain"].startswith("warning[softmax-loss]")


def nbgrader(course, command, name):
    """Runs a command of nbgrader in the course's folder, which holds no settings, and finds none elsewhere."""
    environment = os.environ | {"JUPYTER_CONFIG_DIR": str(course / "none"), "JUPYTER_NO_CONFIG": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", command, name], cwd=course, env=environment, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    shutil.copytree(SOURCE, folder / "source")
    with pytest.MonkeyPatch.context() as patch:
        # nbgrader starts `alembic`, which is installed beside it.
        patch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
        yield folder


def submit(course, name, student, change):
    """What was released for `name`, with solution cells as `change(grade_id, source)` says."""
    folder = course / "submitted" / student / name
    shutil.copytree(course / "release" / name, folder)
    notebook = nbformat.read(folder / f"{name}.ipynb", as_version=4)
    for grade_id, cell in with_role(notebook, "solution").items():
        cell.source = change(grade_id, cell.source)
    nbformat.write(notebook, folder / f"{name}.ipynb")


def scores(course, name, student):
    """Points and the most points of each test cell."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course}/gradebook.db") as gradebook:
        submission = gradebook.find_submission(name, student)
        return {it.name: (it.score, it.max_score) for notebook in submission.notebooks for it in notebook.grades}


def check_release(course, name):
    """Solutions and hidden tests are gone, and nothing else."""
    released = nbformat.read(course / "release" / name / f"{name}.ipynb", as_version=4)
    data = SOURCE / name / "data"
    assert not data.is_dir() or {it.name for it in data.iterdir()} == {it.name for it in (course / "release" / name / "data").iterdir()}
    for before, after in zip(source_of(name).cells, released.cells, strict=True):
        assert not MARKS.search(after.source)
        if role(before) is None:
            assert after.source == before.source
        for region in REGION.findall(before.source):
            assert region not in after.source
        if role(before) == "solution":
            assert "raise NotImplementedError()" in after.source
        if role(before) == "test":
            assert before.source.startswith(after.source.rstrip()) and "assert" in after.source


@pytest.mark.parametrize("name", NAMES)
def test_it_is_released_and_graded(course, name):
    nbgrader(course, "generate_assignment", name)
    check_release(course, name)
    solutions = {grade_id: it.source for grade_id, it in with_role(source_of(name), "solution").items()}
    submit(course, name, "right", lambda grade_id, _: solutions[grade_id])
    submit(course, name, "empty", lambda _, source: source)
    nbgrader(course, "autograde", name)
    right, empty = scores(course, name, "right"), scores(course, name, "empty")
    assert all(got == most > 0 for got, most in right.values()), right
    assert len(right) == len(solutions) == len(empty)
    assert all(got == 0 for got, _ in empty.values()), empty


def test_hidden_tests_find_what_others_do_not(course):
    """In a course of its own: `one_hot` for three classes only."""
    name, own = "01-tensors", course / "near"
    shutil.copytree(SOURCE / name, own / "source" / name)
    nbgrader(own, "generate_assignment", name)
    solutions = {grade_id: it.source for grade_id, it in with_role(source_of(name), "solution").items()}
    near = solutions | {"one-hot": "def one_hot(labels, n):\n    return torch.eye(3)[labels]"}
    submit(own, name, "near", lambda grade_id, _: near[grade_id])
    folder = own / "submitted/near" / name
    ran = subprocess.run([binary(), "run", f"{name}.ipynb", "--keep-going", "--out", "ran.ipynb"], cwd=folder, timeout=300)
    assert ran.returncode in (0, 1)
    seen = with_role(nbformat.read(folder / "ran.ipynb", as_version=4), "test")["test-one-hot"]
    assert not seen.outputs, "the tests that are seen pass"
    os.remove(folder / "ran.ipynb")
    nbgrader(own, "autograde", name)
    graded = scores(own, name, "near")
    assert graded["test-one-hot"] == (0, 1) and graded["test-standardize"] == (2, 2)
