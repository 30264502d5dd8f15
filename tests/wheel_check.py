"""Build a wheel, install it outside the checkout, and run a scenario of the library with it.

What collsim depends on is taken from the environment that runs this, so nothing is fetched.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(*command: str | Path, cwd: Path) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} exited with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> None:
    """Exit with a message if the wheel does not work."""
    with tempfile.TemporaryDirectory() as name:
        away = Path(name)
        run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", away, ROOT, cwd=away)
        (wheel,) = away.glob("*.whl")
        # a pip of its own would take longer than all the rest
        venv.create(away / "venv", with_pip=False)
        python = away / "venv" / "bin" / "python"
        pip = (sys.executable, "-m", "pip", "--python", python)
        run(*pip, "install", "--quiet", "--no-deps", "--no-index", "--no-compile", wheel, cwd=away)
        packages = Path(
            run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=away).strip()
        )
        (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
        where = run(python, "-c", "import collsim; print(collsim.__file__)", cwd=away).strip()
        if not Path(where).is_relative_to(away):
            sys.exit(f"the wheel's collsim is not the one that runs: {where}")
        collsim = away / "venv" / "bin" / "collsim"
        printed = run(
            *(collsim, "run", "library:first-walk/ring-reduce-scatter-8", "--out", away / "out", "--report"),
            cwd=away,
        )
        written = all((away / "out" / name).is_file() for name in ("timeline.png", "report.html"))
        if "16.5221 ms" not in printed or not written:
            sys.exit(f"the wheel ran the library's scenario, but not as it should:\n{printed}")
        _check_llm(collsim, away)
        # the schema and the words that lie in the wheel are those of its code
        run(collsim, "doctor", cwd=away)
        _check_plugin(python, away)
        _check_types(python, away)
    print("the wheel runs outside the checkout")


USER = """\
import collsim

result = collsim.run(collsim.load("library:first-walk/ring-reduce-scatter-8"))
seconds: float = result.time
step = collsim.run("library:llm/step-3d-16")
if isinstance(step, collsim.StepResult):
    share: float = step.report.now.mfu
ring: collsim.Topology = collsim.ring(8, bandwidth=64e9)
"""


def _check_types(python: Path, away: Path) -> None:
    """Exit with a message if a program that uses collsim cannot be type-checked against the wheel."""
    (away / "user.py").write_text(USER, encoding="utf-8")
    run(sys.executable, "-m", "mypy", "--strict", "--python-executable", python, away / "user.py", cwd=away)


def _check_llm(collsim: Path, away: Path) -> None:
    """Exit with a message if the presets of models and hardware are not in the wheel."""
    printed = run(collsim, "llm", "memory", "library:llm/korthikanti-175b", "--format", "csv", cwd=away)
    # 12.3515625 GiB of activations (Korthikanti et al. 2022, figure 1)
    if ",13262389248," not in printed:
        sys.exit(f"the wheel counted the library's plan, but not as it should:\n{printed}")


def _check_plugin(python: Path, away: Path) -> None:
    """Exit with a message if the installed pytest plugin does not collect a scenario."""
    folder = away / "plugin"
    folder.mkdir()
    text = "topology: {kind: ring, ranks: 2, bandwidth: 1 GB/s}\n"
    text += "collective: {kind: allgather, algorithm: ring, size: 1 B}\nexpect: {steps: 1}\n"
    (folder / "small.yaml").write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\ncollsim_scenarios = *.yaml\n", encoding="utf-8")
    printed = run(python, "-m", "pytest", "-v", cwd=folder)
    if "small.yaml::small PASSED" not in printed:
        sys.exit(f"the wheel's pytest plugin collected something else:\n{printed}")


if __name__ == "__main__":
    main()
