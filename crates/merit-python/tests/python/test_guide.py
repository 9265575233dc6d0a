"""The programs of the guides, one after another as a reader would type them."""

import os
import pathlib
import re

import pytest

DOCS = pathlib.Path(os.environ["MERIT_ROOT"]) / "docs"


@pytest.mark.parametrize("page", ["python.md"])
def test_the_programs_of_a_guide_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    programs = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    assert programs
    names = {"__name__": "guide"}
    for program in programs:
        exec(compile(program, page, "exec"), names)
