"""The guide for Python. The pages for trainers run beside the tests of each trainer."""

import guide


def test_the_programs_of_the_guide_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    guide.run("python.md")
