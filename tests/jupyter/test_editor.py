"""Completion and help over the sockets: while a cell runs, with letters of every width, and as JupyterLab reads the replies."""

import re
import time

SETUP = """
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.first = nn.Linear(4, width)

model = Net()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
config = {"lr": 0.1, "größe 🙂": 2}
"""


def without_colours(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def complete(kernel, text):
    """Matches at the mark `|`, the text that they replace, and their types."""
    at = text.index("|")
    content = kernel.reply(kernel.kc.complete(text.replace("|", "", 1), at))["content"]
    assert content["status"] == "ok" and content["cursor_end"] == at
    typed = content["metadata"]["_jupyter_types_experimental"]
    assert [it["text"] for it in typed] == content["matches"]
    return content["matches"], text[content["cursor_start"] : at], typed


def inspect(kernel, text, detail=0):
    at = text.index("|")
    content = kernel.reply(kernel.kc.inspect(text.replace("|", "", 1), at, detail))["content"]
    assert content["found"] == bool(content["data"])
    return content["data"]


def test_all_kinds_of_completion(kernel):
    kernel.run(SETUP)
    assert complete(kernel, "torch.optim.SGD(model.parameters(), l|")[0][0] == "lr="
    assert complete(kernel, "model.fir|")[:2] == (["first"], "fir")
    assert complete(kernel, "config['l|']")[0] == ["lr"]
    assert complete(kernel, "import torch.nn.fu|")[:2] == (["functional"], "fu")
    assert complete(kernel, "from torch import rel|")[0] == ["relu", "relu6", "relu_"]
    assert complete(kernel, "%tra|")[:2] == (["%trace"], "%tra")
    assert complete(kernel, "%trace --sym|")[0] == ["--symbolic"]
    assert complete(kernel, "# mod|")[0] == []


def test_types_and_signatures(kernel):
    kernel.run(SETUP)
    kinds = {"mod|": "instance", "Ne|": "class", "whil|": "keyword", "%tra|": "magic"}
    for text, kind in kinds.items():
        assert complete(kernel, text)[2][0]["type"] == kind
    param = complete(kernel, "Net(wi|")[2][0]
    assert (param["type"], param["signature"]) == ("param", "width=8")
    weight = complete(kernel, "model.first.weig|")[2][0]
    assert weight["signature"] == "Parameter f32[8, 4]"


def test_files_are_completed_in_strings_and_after_magics(kernel, tmp_path):
    (tmp_path / "model.ngm").write_text("")
    (tmp_path / "models").mkdir()
    assert complete(kernel, f"load('{tmp_path}/mo|')")[0] == ["model.ngm", "models/"]
    assert complete(kernel, f"%run {tmp_path}/model.|")[0] == ["model.ngm"]


def test_the_cursor_counts_code_points(kernel):
    kernel.run(SETUP + "\né = torch.ones(3)")
    assert complete(kernel, "'🙂🙂'; é.sha|pe; '🙂'")[:2] == (["shape", "share_memory_"], "sha")
    assert complete(kernel, "# ∂🙂\nmod|el")[:2] == (["model"], "mod")
    assert complete(kernel, "'🙂', config['gr|']")[0] == ["größe 🙂"]
    assert "[3]" in inspect(kernel, "'🙂é', é|")["text/plain"]
    assert inspect(kernel, "'🙂é', print(|1)")["text/plain"].startswith("Signature: print(")


def test_inspection(kernel):
    kernel.run(SETUP)
    kernel.run('def double(x):\n    "Twice as much."\n    return x * 2')
    plain = inspect(kernel, "double(|3)")["text/plain"]
    assert "double(x)" in plain and "Twice as much." in plain and "In[2], line 1" in plain
    assert "return x * 2" in without_colours(inspect(kernel, "dou|ble", 1)["text/plain"])
    assert "<strong>double(x)</strong>" in inspect(kernel, "double|")["text/html"]
    assert "[8, 4]" in inspect(kernel, "model.first.weight|")["text/plain"]
    assert '"lr"' in inspect(kernel, "x = config|")["text/plain"]
    assert ">>> silu(" in inspect(kernel, "torch.nn.functional.silu|")["text/plain"]
    assert inspect(kernel, "nosuch|") == {}


def test_a_question_mark_shows_the_same_help(kernel):
    kernel.run(SETUP)
    for asked in ["model.first?", "?model.first"]:
        reply, _ = kernel.run(asked)
        data = reply["payload"][0]["data"]
        assert "Linear" in data["text/plain"] and "<" in data["text/html"]
    for asked in ["%capture?", "?%capture", "%%capture?"]:
        assert "Usage" in kernel.run(asked)[0]["payload"][0]["data"]["text/plain"]
        assert "%capture" in inspect(kernel, asked + "|")["text/plain"]
    source = kernel.run("nn.Linear??")[0]["payload"][0]["data"]["text/plain"]
    assert "def forward(self, input):" in without_colours(source)


def test_answers_while_a_cell_runs(kernel):
    kernel.run(SETUP)
    cell = kernel.kc.execute("import time\ndef later(alpha=3):\n    pass\nlosses = []\ntime.sleep(2)")
    time.sleep(0.3)
    start = time.monotonic()
    assert complete(kernel, "model.fir|")[0] == ["first"]
    # Names that the running cell will bind are known from its text.
    assert complete(kernel, "loss|")[0] == ["losses"]
    assert complete(kernel, "later(al|")[0][0] == "alpha="
    assert "[8, 4]" in inspect(kernel, "model.first.weight|")["text/plain"]
    assert kernel.reply(kernel.kc.is_complete("for i in x:"))["content"] == {"status": "incomplete", "indent": "    "}
    assert time.monotonic() - start < 1.2
    assert kernel.reply(cell)["content"]["status"] == "ok"
