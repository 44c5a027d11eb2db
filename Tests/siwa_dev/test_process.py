"""Programs start, end, and never stay behind."""

import contextlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

import pytest

from siwa_dev import EmulatorError, FakeApple, FakeGoogle, program


def run(code, *arguments, **how):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *arguments], stdout=subprocess.PIPE, text=True, **how
    )


def programs(folder):
    """The numbers of the running programs of a fake. Its folder, which has a random name, is in their arguments."""
    found = set()
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            arguments = path.read_bytes()
            if not arguments.startswith(b"/bin/sh") and f"{folder}/".encode() in arguments:
                found.add(path.parent.name)
    return found


def leaves_nothing(folder):
    """Waits until a fake has no program and no folder, and returns whether that happened."""
    deadline = time.monotonic() + 30
    while programs(folder) or os.path.exists(folder):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def children():
    """The numbers of this process's children."""
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return set(file.read().split())


def test_a_block_leaves_no_process_and_no_file():
    before = children()
    with FakeApple() as apple:
        folder = os.path.dirname(apple.log_file)
        assert children() > before and programs(folder)
    assert children() == before and not programs(folder) and not os.path.exists(folder)


def test_an_exception_ends_the_fake():
    with pytest.raises(ZeroDivisionError):
        with FakeApple() as apple:
            raise ZeroDivisionError
    assert not programs(os.path.dirname(apple.log_file))


PARENT = """
    import os, sys, time
    from siwa_dev import FakeApple
    with FakeApple() as apple:
        print(os.path.dirname(apple.log_file), flush=True)
        time.sleep(60)
"""


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_fake_ends_with_its_parent(sent):
    parent = run(PARENT, stderr=subprocess.DEVNULL)
    folder = parent.stdout.readline().strip()
    assert programs(folder)
    parent.send_signal(sent)
    parent.wait()
    parent.stdout.close()
    assert leaves_nothing(folder)


def test_an_interrupted_test_run_leaves_nothing(tmp_path):
    (tmp_path / "test_it.py").write_text(
        textwrap.dedent(
            """
            import os, time

            def test_it(fake_apple):
                print(os.path.dirname(fake_apple.log_file), flush=True)
                time.sleep(60)
            """
        )
    )
    command = [sys.executable, "-m", "pytest", "-s", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as runner:
        folder = runner.stdout.readline().strip()
        assert programs(folder)
        runner.send_signal(signal.SIGINT)
        runner.communicate()
        assert leaves_nothing(folder) and runner.returncode == 2


def test_the_fake_survives_the_thread_that_started_it():
    code = """
        import threading
        from siwa_dev import FakeApple
        fake = FakeApple()
        thread = threading.Thread(target=fake.__enter__)
        thread.start(); thread.join()
        print(len(fake.people.all()))
        fake.__exit__(None, None, None)
    """
    with run(code) as process:
        assert process.communicate()[0] == "1\n"


def test_forked_children_neither_end_the_fake_nor_keep_it():
    code = """
        import os, time
        from siwa_dev import FakeApple
        reader, writer = os.pipe()
        with FakeApple() as apple:
            child = os.fork()
            if child == 0:
                apple.__exit__(None, None, None)
                os.write(writer, b".")
                time.sleep(60)
                os._exit(0)
            os.read(reader, 1)
            print(len(apple.people.all()), os.path.dirname(apple.log_file), flush=True)
        print("ended", flush=True)
        os.kill(child, 9)
    """
    with run(code) as process:
        people, folder = process.stdout.readline().split()
        assert people == "1" and process.stdout.readline() == "ended\n" and not programs(folder)
        process.stdout.read()


def test_a_fake_that_has_ended_says_so():
    with FakeApple() as apple:
        pass
    with pytest.raises(EmulatorError) as refusal:
        apple.people.new()
    assert refusal.value.code == "stopped"


@pytest.mark.parametrize("use", [lambda: FakeApple().people, lambda: FakeApple().url, lambda: FakeGoogle().links()])
def test_a_fake_without_a_block_says_so(use):
    with pytest.raises(EmulatorError) as refusal:
        use()
    assert refusal.value.code == "stopped"


def test_a_missing_member_of_a_running_fake_is_no_end(fake_apple):
    assert not hasattr(fake_apple, "poeple") and not hasattr(FakeApple(), "__wrapped__")


def test_a_start_without_a_process_leaves_no_folder(monkeypatch, tmp_path):
    def refuse(*_, **__):
        raise OSError

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.raises(OSError):
        FakeApple().__enter__()
    assert not list(tmp_path.iterdir())


def test_a_failed_start_shows_the_log():
    before = children()
    with pytest.raises(EmulatorError) as refusal:
        FakeApple(team_id="short").__enter__()
    assert refusal.value.code == "start_failed" and "--team-id" in refusal.value.detail
    assert children() == before


def test_a_port_can_be_chosen():
    with contextlib.ExitStack() as stack:
        # Another program can use one of these ports. The system gives none of them to a client.
        for port in random.sample(range(12_000, 32_000), 10):
            with contextlib.suppress(EmulatorError):
                apple = stack.enter_context(FakeApple(port=port))
                break
        assert apple.port == port
        with pytest.raises(EmulatorError) as refusal:
            FakeApple(port=port).__enter__()
        assert refusal.value.code == "start_failed"


def test_a_missing_program_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SIWA_DEV", str(tmp_path / "nothing"))
    with pytest.raises(EmulatorError) as refusal:
        FakeApple().__enter__()
    assert refusal.value.code == "program_missing" and "nothing" in refusal.value.detail


def test_the_console_script_becomes_the_program(monkeypatch):
    monkeypatch.setenv("SIWA_DEV", program.path())
    with run("import siwa_dev.program; siwa_dev.program.main()") as process:
        assert "USAGE: siwa-dev" in process.communicate()[0]


def test_each_test_begins_with_the_state_of_the_start(tmp_path):
    (tmp_path / "test_it.py").write_text(
        textwrap.dedent(
            """
            import pytest

            ports = []

            def test_one(fake_apple):
                ports.append(fake_apple.port)
                fake_apple.people.new()

            def test_the_next_has_no_people_of_the_first(fake_apple):
                assert [fake_apple.port] == ports and len(fake_apple.people.all()) == 1

            @pytest.mark.fake_apple(team_id="ABCDE12345")
            def test_other_arguments_have_a_fake_of_their_own(fake_apple):
                assert fake_apple.port not in ports and fake_apple.team_id == "ABCDE12345"
                fake_apple.__exit__(None, None, None)

            @pytest.mark.fake_apple(team_id="ABCDE12345")
            def test_a_fake_that_has_ended_is_replaced(fake_apple):
                fake_apple.people.new()

            @pytest.mark.fake_apple("com.my.app")
            def test_wrong_arguments(fake_apple):
                pass
            """
        )
    )
    command = [sys.executable, "-m", "pytest", "-q", "--strict-markers", "-p", "no:cacheprovider", str(tmp_path)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert "4 passed, 1 error" in ran.stdout, ran.stdout
    advice = "fake_apple: expected keyword arguments, found 'com.my.app'; write client_ids=[...]"
    assert f"UsageError: {advice}" in ran.stdout, ran.stdout
