"""docs/test-your-backend.md and its examples."""

import os
import pathlib
import shutil
import subprocess

import pytest

from siwa_dev import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"


def test_the_page_shows_each_example_as_it_is():
    page = (ROOT / "docs" / "test-your-backend.md").read_text()
    for example in EXAMPLES.iterdir():
        if example.is_file():
            language = "js" if example.suffix == ".mjs" else "python"
            assert f"```{language}\n{example.read_text()}```\n" in page, example.name


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js")
def test_the_node_example_passes(tmp_path):
    (tmp_path / "siwa-dev").symlink_to(program.path())
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    ran = subprocess.run(
        ["node", "--test"], cwd=EXAMPLES, env=environment, stdout=subprocess.PIPE, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stdout
