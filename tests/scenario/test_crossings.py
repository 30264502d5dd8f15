"""Who is fastest where: times that are formulas, so that every crossover is known by hand."""

from __future__ import annotations

from collections.abc import Callable

from simulator.scenario.crossings import Crossover, TimeAt, Winners, crossovers, leaders, winners_at

Formula = Callable[[int], int | None]


def table(formulas: dict[str, Formula], *sizes: int) -> tuple[list[Winners], list[str], TimeAt]:
    def time_at(name: str, size: int) -> int | None:
        return formulas[name](size)

    return [winners_at(size, list(formulas), time_at) for size in sizes], list(formulas), time_at


def found(formulas: dict[str, Formula], *sizes: int) -> list[tuple[str, str, int]]:
    return [(one.before, one.after, one.size) for one in crossovers(*table(formulas, *sizes))]


def test_two_lines_cross_where_they_meet_to_three_digits() -> None:
    # 1000 + 5 m < 2 m + 1000000 up to m = 333000
    two: dict[str, Formula] = {"a": lambda m: 1000 + 5 * m, "b": lambda m: 1_000_000 + 2 * m}
    (one,) = crossovers(*table(two, 1, 10**6))
    assert (one.before, one.after) == ("a", "b")
    assert one.size - one.within <= 333_000 < one.size
    assert one.within <= 1000


def test_small_sizes_are_found_to_the_byte() -> None:
    # the first whole m with 3 + 2 m > 13 + m
    assert found({"a": lambda m: 3 + 2 * m, "b": lambda m: 13 + m}, 0, 900) == [("a", "b", 11)]


def test_no_crossover_where_one_is_always_ahead() -> None:
    assert found({"a": lambda m: 3 + m, "b": lambda m: 4 + m}, 1, 10, 10**9) == []
    assert found({"a": lambda m: 3 + m}, 1, 10**9) == []


def test_the_same_two_may_cross_several_times() -> None:
    # b is ahead between 10 and 20 alone
    times = found({"a": lambda _: 5, "b": lambda m: 4 if 10 <= m < 20 else 6}, 1, 15, 100)
    assert times == [("a", "b", 10), ("b", "a", 20)]


def test_a_third_that_wins_in_between_is_found() -> None:
    # the lower envelope of three lines: they meet at m = 10 and m = 20
    three: dict[str, Formula] = {"a": lambda m: 3 * m, "b": lambda m: 30 + m, "c": lambda m: 10 + 2 * m}
    assert found(three, 1, 900) == [("a", "c", 11), ("c", "b", 21)]


def test_ties_are_no_crossovers() -> None:
    # always the same, then one is ahead: it was among the fastest before
    assert found({"a": lambda m: m, "b": lambda m: m - (m > 50)}, 1, 40, 100) == []
    winners, _, _ = table({"a": lambda m: m, "b": lambda m: m - (m > 50)}, 1, 100)
    assert (winners[0].names, winners[1].names) == (("a", "b"), ("b",))
    assert leaders(winners) == ("b", "b")


def test_of_those_that_tie_the_one_that_stays_is_named() -> None:
    # a and b tie at 1, b and c at 2 and 3
    names = [("a", "b"), ("b", "c"), ("c", "b"), ("c",)]
    winners = [Winners(i, tied, 1, None) for i, tied in enumerate(names)]
    assert leaders(winners) == ("b", "b", "b", "c")


def test_one_that_cannot_run_at_a_size_does_not_win_there() -> None:
    stops: dict[str, Formula] = {"a": lambda m: 1 if m <= 123 else None, "b": lambda _: 2}
    assert found(stops, 1, 1000) == [("a", "b", 124)]
    never: dict[str, Formula] = {"a": lambda _: None}
    winners, _, _ = table(never, 1, 2)
    assert winners[0] == Winners(1, (), None, None)
    assert found(never, 1, 2) == []


def test_those_that_tie_at_the_end_of_a_gap_do_not_take_over_there() -> None:
    # c is alone in front between 10 and 20 and ties with b from there on
    three: dict[str, Formula] = {"a": lambda m: m, "b": lambda m: max(10, 30 - m), "c": lambda _: 10}
    # m > 10 from 11 on
    assert crossovers(*table(three, 1, 30)) == (Crossover("a", "c", 11, 1),)
