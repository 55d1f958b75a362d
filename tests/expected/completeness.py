"""What CPython says of unfinished cells: reads lists of texts as JSON from stdin, writes a [status, indent] for each.

The status is that of `codeop`, and, as in IPython, a block goes on until a line is left empty. The indent is that of the last
line; after the head of a block it is that of the head, and four more.
"""

import codeop
import io
import json
import sys
import tokenize
import warnings

LAYOUT = {tokenize.NEWLINE, tokenize.NL, tokenize.COMMENT, tokenize.DEDENT, tokenize.ENDMARKER}


def tokens(text):
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            found.append(token)
    except (tokenize.TokenError, SyntaxError):
        # What came before the mistake is enough.
        pass
    return found


def is_inside_block(text):
    depth = 0
    for token in tokens(text):
        if token.type == tokenize.ENDMARKER or (token.type == tokenize.DEDENT and token.line == ""):
            break
        depth += {tokenize.INDENT: 1, tokenize.DEDENT: -1}.get(token.type, 0)
    return depth > 0


def head_of_block(text):
    """The first token of the last statement, if a block is to follow it."""
    code = [token for token in tokens(text) if token.type not in LAYOUT - {tokenize.NEWLINE} | {tokenize.INDENT}]
    while code and code[-1].type == tokenize.NEWLINE:
        code.pop()
    brackets = sum({"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.string, 0) for token in code)
    if not code or brackets or code[-1].string != ":":
        return None
    ends = [at for at, token in enumerate(code) if token.type == tokenize.NEWLINE]
    return code[ends[-1] + 1 if ends else 0]


def status(text):
    try:
        code = codeop.compile_command(text, "<cell>", "exec")
    except (SyntaxError, ValueError, OverflowError):
        return "invalid"
    if code is None:
        return "incomplete"
    goes_on = text.rsplit("\n", 1)[-1].strip() and is_inside_block(text)
    return "incomplete" if goes_on else "complete"


def indent(text):
    head = head_of_block(text)
    if head:
        return head.line[: head.start[1]] + "    "
    last = (text.rstrip().splitlines() or [""])[-1]
    return last[: len(last) - len(last.lstrip())]


def answer(text):
    found = status(text)
    return [found, indent(text) if found == "incomplete" else ""]


def main():
    warnings.simplefilter("ignore")
    json.dump([[answer(text) for text in texts] for texts in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
