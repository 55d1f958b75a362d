"""Writes the data of the course: `python tests/expected/make_course_data.py FASHION_FOLDER ALICE`.

FASHION_FOLDER holds the four files of Fashion-MNIST as Zalando gives them (Debian: dataset-fashion-mnist, in /usr/share/datasets);
ALICE is `alice29.txt` of the Canterbury corpus. Of the images the first 150 of each class of the training part and the first 50 of each
class of the test part are taken, in their order; of the text the first two chapters, with a line for each paragraph.
"""

import gzip
import re
import sys
from pathlib import Path

import numpy as np

COURSE = Path(__file__).resolve().parents[2] / "notebooks/course/source"


def part(folder, name, count):
    with gzip.open(folder / f"{name}-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28)
    with gzip.open(folder / f"{name}-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    first = np.concatenate([np.flatnonzero(labels == at)[:count] for at in range(10)])
    taken = np.sort(first)
    return images[taken], labels[taken]


def chapters(text):
    text = text.replace("\r\n", "\n")
    start, end = text.index("Alice was beginning"), text.index("CHAPTER III")
    body = re.sub(r"CHAPTER II\n\s+The Pool of Tears\n", "", text[start:end])
    paragraphs = [" ".join(it.split()) for it in re.split(r"\n\s*\n", body)]
    return "\n".join(it for it in paragraphs if re.search("[a-z]", it)) + "\n"


if __name__ == "__main__":
    folder, alice = map(Path, sys.argv[1:])
    (train_x, train_y), (test_x, test_y) = part(folder, "train", 150), part(folder, "t10k", 50)
    target = COURSE / "04-cnn/data/fashion.npz"
    np.savez_compressed(target, train_x=train_x, train_y=train_y, test_x=test_x, test_y=test_y)
    (COURSE / "06-transformer/data/alice.txt").write_text(chapters(alice.read_text("ascii")))
