"""What the compiled engine's loops have in common that keep operations and resources as rows."""

from __future__ import annotations

from simulator.engine.kernel import NONE, STACK, inner


@inner
def start_first(run):
    """List the operations that wait for nobody; the lowest number is started first."""
    for i in range(len(run.operations) - 1, -1, -1):
        if run.operations[i].missing == 0:
            run.started[run.scalars[STACK]] = i
            run.scalars[STACK] += 1


@inner
def start_dependents(run, i):
    """List what waited for an operation alone; the lowest number is started first."""
    operation = run.operations[i]
    for e in range(operation.dependents_end - 1, operation.dependents - 1, -1):
        d = run.dependents[e]
        run.operations[d].missing -= 1
        if run.operations[d].missing == 0:
            run.started[run.scalars[STACK]] = d
            run.scalars[STACK] += 1


@inner
def line_up(run, i, resource):
    """Put an operation into a queue in the order (arrival, operation); nobody in it has come later."""
    came = run.operations[i].came
    ahead, behind = resource.last, NONE
    while ahead != NONE and ahead > i and run.operations[ahead].came == came:
        behind = ahead
        ahead = run.operations[ahead].before
    run.operations[i].before = ahead
    run.operations[i].behind = behind
    if ahead == NONE:
        resource.first = i
    else:
        run.operations[ahead].behind = i
    if behind == NONE:
        resource.last = i
    else:
        run.operations[behind].before = i


@inner
def take_first(run, resource):
    """Take the first waiter out of a queue; its number."""
    i = resource.first
    resource.first = run.operations[i].behind
    if resource.first == NONE:
        resource.last = NONE
    else:
        run.operations[resource.first].before = NONE
    return i
