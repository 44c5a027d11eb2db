"""Programs start, end, and never stay behind."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from siwa_dev import EmulatorError, FakeApple, program


def run(code, *arguments, **how):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *arguments], stdout=subprocess.PIPE, text=True, **how
    )


def ended(port):
    """Waits until nothing listens at a port, and returns whether that happened."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if not any(listens(port, table) for table in ("/proc/net/tcp", "/proc/net/tcp6")):
            return True
        time.sleep(0.02)
    return False


def listens(port, table):
    with open(table, encoding="ascii") as lines:
        return any(f":{port:04X} 0" in line and line.split()[3] == "0A" for line in lines)


def children():
    """The numbers of this process's children."""
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return set(file.read().split())


def test_a_block_leaves_no_process_and_no_file():
    before = children()
    with FakeApple() as apple:
        folder = os.path.dirname(apple.log_file)
        assert children() > before and not ended_now(apple.port)
    assert children() == before and ended_now(apple.port) and not os.path.exists(folder)


def ended_now(port):
    return not listens(port, "/proc/net/tcp")


def test_an_exception_ends_the_fake():
    with pytest.raises(ZeroDivisionError):
        with FakeApple() as apple:
            raise ZeroDivisionError
    assert ended_now(apple.port)


PARENT = """
    import os, sys, time
    from siwa_dev import FakeApple
    with FakeApple() as apple:
        print(apple.port, os.path.dirname(apple.log_file), flush=True)
        time.sleep(60)
"""


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_fake_ends_with_its_parent(sent):
    parent = run(PARENT, stderr=subprocess.DEVNULL)
    port, folder = parent.stdout.readline().split()
    assert not ended_now(int(port))
    parent.send_signal(sent)
    parent.wait()
    parent.stdout.close()
    assert ended(int(port))
    deadline = time.monotonic() + 10
    while os.path.exists(folder) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not os.path.exists(folder)


def test_an_interrupted_test_run_leaves_nothing(tmp_path):
    (tmp_path / "test_it.py").write_text(
        textwrap.dedent(
            """
            import time

            def test_it(fake_apple):
                print(fake_apple.port, flush=True)
                time.sleep(60)
            """
        )
    )
    command = [sys.executable, "-m", "pytest", "-s", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as runner:
        port = int(runner.stdout.readline())
        assert not ended_now(port)
        runner.send_signal(signal.SIGINT)
        runner.communicate()
        assert ended(port) and runner.returncode == 2


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
        with FakeApple() as apple:
            child = os.fork()
            if child == 0:
                apple.__exit__(None, None, None)
                time.sleep(60)
                os._exit(0)
            time.sleep(0.2)
            print(len(apple.people.all()), apple.port, flush=True)
        print("ended", flush=True)
        os.kill(child, 9)
    """
    with run(code) as process:
        people, port = process.stdout.readline().split()
        assert people == "1" and process.stdout.readline() == "ended\n" and ended_now(int(port))
        process.stdout.read()


def test_a_fake_that_has_ended_says_so():
    with FakeApple() as apple:
        pass
    with pytest.raises(EmulatorError) as refusal:
        apple.people.new()
    assert refusal.value.code == "stopped"


def test_a_failed_start_shows_the_log():
    before = children()
    with pytest.raises(EmulatorError) as refusal:
        FakeApple(team_id="short").__enter__()
    assert refusal.value.code == "start_failed" and "--team-id" in refusal.value.detail
    assert children() == before


def test_a_port_can_be_chosen():
    with FakeApple() as apple:
        port = apple.port
    with FakeApple(port=port) as apple:
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
            """
        )
    )
    command = [sys.executable, "-m", "pytest", "-q", "--strict-markers", "-p", "no:cacheprovider", str(tmp_path)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert ran.returncode == 0 and "3 passed" in ran.stdout, ran.stdout
