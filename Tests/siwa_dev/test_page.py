"""docs/test-your-backend.md and its examples."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest

from siwa_dev import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"

PRELUDE = """
import pytest

@pytest.fixture
def server_url():
    return "http://127.0.0.1:8080"
"""


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
    blocks = [block for block in blocks if block.startswith(("def test_", "import pytest"))]
    text = "\n".join([PRELUDE, *blocks])
    tests = text.count("\ndef test_")
    assert tests
    (tmp_path / "test_it.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert ran.returncode == 0 and f"{tests} passed" in ran.stdout, ran.stdout


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js")
def test_the_node_example_passes(tmp_path):
    (tmp_path / "siwa-dev").symlink_to(program.path())
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    with subprocess.Popen(
        ["node", "--test"], cwd=EXAMPLES, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as node:
        try:
            output = node.communicate(timeout=120)[0]
        except BaseException:
            # Node.js runs each file in a process, and this one runs the fake.
            os.killpg(node.pid, signal.SIGKILL)
            raise
    assert node.returncode == 0, output
