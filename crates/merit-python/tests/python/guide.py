"""The programs of a page of the documentation, one after another as a reader would type them."""

import os
import pathlib
import re

DOCS = pathlib.Path(os.environ["MERIT_ROOT"]) / "docs"


def run(page, **names):
    """Runs them; `names` are those that the page leaves to the reader."""
    programs = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    assert programs
    names = {"__name__": "guide", **names}
    for program in programs:
        assert len(program.splitlines()) <= 30, "too long to copy"
        exec(compile(program, page, "exec"), names)
    return names
