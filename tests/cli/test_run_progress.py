"""What is said on stderr of actions that run side by side."""

from gitdash.cli.run_progress import RunProgress


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_one_alone_is_shown_with_all_figures() -> None:
    clock = Clock()
    progress = RunProgress(clock)
    number = progress.ask()
    progress.begin(number, "/srv/a.git")
    progress.advance(number, "full-repack: writing objects", 0, 400, None)
    clock.now_s += 10
    progress.advance(number, "full-repack: writing objects", 100, 400, None)
    # 100 in 10 s are 10 a second, and the other 300 take 30 s
    assert progress.text() == "0/1  /srv/a.git: full-repack: writing objects 25%, 100/400, 10/s, 30.0 s left"


def test_rate_of_what_is_received_is_in_bytes_and_counts_from_the_beginning_of_the_step() -> None:
    clock = Clock()
    progress = RunProgress(clock)
    number = progress.ask()
    progress.begin(number, "a")
    progress.advance(number, "counting objects", 5, None, None)
    clock.now_s += 50
    progress.advance(number, "receiving objects", 1, 100, 0)
    clock.now_s += 4
    progress.advance(number, "receiving objects", 50, 100, 8 << 20)
    assert progress.text() == "0/1  a: receiving objects 50%, 50/100, 8.00 MiB, 2.00 MiB/s, 4.0 s left"


def test_several_are_shown_beside_one_another_and_the_rest_is_counted() -> None:
    clock = Clock()
    progress = RunProgress(clock)
    numbers = [progress.ask() for _ in range(6)]
    for number in numbers[:5]:
        progress.begin(number, f"/srv/r{number}", "waiting for the server")
    progress.advance(numbers[1], "receiving objects", 30, 100, None)
    with progress.ended(numbers[4]):
        pass
    clock.now_s += 3
    shown = "r1: waiting for the server, 3 s | r2: receiving objects 30%, 10/s | r3: waiting for the server, 3 s"
    assert progress.text() == f"1/6  {shown} | 1 more"
