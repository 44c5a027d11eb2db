"""docs/test-your-backend.md and its examples."""

import os
import pathlib
import shutil
import subprocess
import sys

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


@pytest.mark.parametrize("path", ["docs/test-your-backend.md", "Sources/siwa_dev/README.md"])
def test_the_short_tests_of_a_page_pass(path, tmp_path):
    blocks = (ROOT / path).read_text().split("```python\n")[1:]
    blocks = [block.split("```\n")[0] for block in blocks]
    tests = [block for block in blocks if block.startswith(("def test_", "@pytest.mark"))]
    assert tests
    (tmp_path / "test_it.py").write_text("import pytest\n\n" + "\n".join(tests))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert ran.returncode == 0 and f"{len(tests)} passed" in ran.stdout, ran.stdout


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js")
def test_the_node_example_passes(tmp_path):
    (tmp_path / "siwa-dev").symlink_to(program.path())
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    ran = subprocess.run(
        ["node", "--test"], cwd=EXAMPLES, env=environment, stdout=subprocess.PIPE, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stdout
