"""The command line: only argparse is imported until the command is known."""

import argparse
import sys

PROGRAM = "memcliff"


def main(arguments: list[str] | None = None) -> int:
    """Run a command and give its exit code; the only place that prints errors."""
    options = parser().parse_args(arguments)
    from harness.commands import command_of
    from harness.errors import MemcliffError

    code = 0
    try:
        code = command_of(options.command)(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has gone (`memcliff ... | head`); that is no failure of ours.
        from harness.display import let_go

        let_go()
    except MemcliffError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        # While trials run it is caught where it does no harm; here nothing has begun yet.
        print(f"\n{PROGRAM}: interrupted before anything was measured.", file=sys.stderr)
        return 130
    return code


def parser() -> argparse.ArgumentParser:
    """Make the parser of all commands."""
    top = argparse.ArgumentParser(
        prog=PROGRAM, description="Measure where a model stops being practical on this machine."
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="command")
    _add_run(commands)
    doctor = commands.add_parser("doctor", help="what this machine is and what every probe says")
    doctor.add_argument("--models-dir", metavar="DIR", help="the folder of the model files")
    doctor.add_argument(
        "--save", metavar="DIR", help="save all it read in a new folder, without personal details"
    )
    doctor.add_argument(
        "--probe", action="store_true", help="see how far counters move when 256 MiB are taken"
    )
    doctor.add_argument(
        "--copy", action="store_true",
        help="copy 1 GiB to the GPU and back: does it use the same bytes as the CPU?",
    )  # fmt: skip
    clean = commands.add_parser("clean", help="remove model files and traces")
    clean.add_argument("--models-dir", metavar="DIR", help="the folder of the model files")
    clean.add_argument("-o", "--results", default="results", metavar="DIR", help="results folder")
    _add_report(commands)
    _add_compare(commands)
    _add_predict(commands)
    return top


def _add_run(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    run = commands.add_parser("run", help="measure, and say where a model stops being practical")
    _add_question(run.add_argument_group("the question"))
    _add_own(run.add_argument_group("a model of your own"))
    _add_conduct(run.add_argument_group("how it is measured"))
    _add_output(run.add_argument_group("what comes out"))


def _add_question(group: "argparse._ArgumentGroup") -> None:
    add = group.add_argument
    add("--target", metavar="SIZE", help="the model in question (12GB, or --max-size if less)")
    add("--sizes", metavar="S,S", help="exactly these, once each: no reference, no search")
    add("--max-size", metavar="SIZE", help="try nothing larger")
    add("--resolution", default="0.5GB", metavar="SIZE", help="how closely to find the cliff")
    add("--format", choices=["savedmodel", "keras", "h5", "weights_h5", "all"],
        help="how the model is stored; all: one after the other (savedmodel)")  # fmt: skip
    add("--arch", choices=["mlp", "embedding"],
        help="an inference reads all weights of an mlp, few of an embedding (mlp)")  # fmt: skip
    add("--dtype", choices=["float32", "float16", "bfloat16"],
        help="type of the weights (float32)")  # fmt: skip
    add("--batch", type=int, default=1, metavar="N", help="rows in one inference (1)")
    add("--device", default="auto", choices=["auto", "cpu", "gpu", "both"], help="where it runs")
    add("--ram", metavar="SIZE", help="as if the machine had so much memory (16GB means 16 GiB)")
    add("--system-share", metavar="SIZE", help="of which the system would take so much (0)")
    add("--ballast", metavar="SIZE", help="hold so much beside the model, for other programs")
    add("--cache", default="cold", choices=["cold", "warm"],
        help="the model's files before a load: out of memory, or all in it (cold)")  # fmt: skip
    add("--need", metavar="TIME", help="what an inference may take to be of use to you")


def _add_own(group: "argparse._ArgumentGroup") -> None:
    add = group.add_argument
    add("--model", metavar="PATH",
        help="measure this one: a SavedModel folder, a .keras or a legacy .h5 file")  # fmt: skip
    add("--signature", metavar="NAME", help="which signature of a SavedModel (its default one)")
    add("--input-shape", action="append", default=[], metavar="NAME=N,N",
        help="an input's shape, such as image=1,224,224,3, where the model leaves it open (1 for "
        "each unknown length)")  # fmt: skip


def _add_conduct(group: "argparse._ArgumentGroup") -> None:
    add = group.add_argument
    add("--inferences", type=int, metavar="N",
        help="so many in each trial, not 3 to 20 in about 5 s; from 40 on drift is told; many may "
        "need a longer --trial-limit")  # fmt: skip
    add("--inference-limit", default="60s", metavar="TIME", help="cut an inference off (60s)")
    add("--trial-limit", default="3min", metavar="TIME", help="stop a trial (3min)")
    add("--write-limit", default="40GB", metavar="SIZE",
        help="stop a trial that writes more, a run before ten times that (40GB)")  # fmt: skip
    add("--no-guard", metavar="RULE,RULE", help="switch guards off, by the names in stop_rule")
    add("--hz", type=float, default=50.0, metavar="N", help="samples a second (50)")
    add("--models-dir", metavar="DIR", help="where model files go (a cache folder)")
    add("--keep-models", action="store_true", help="keep the model files after the run")
    add("--yes", action="store_true", help="ask nothing, try all sizes")
    add("--anyway", action="store_true", help="run although the machine is not at rest")
    add("--fresh", action="store_true", help="begin a new table, do not resume")
    add("--retry-lost", action="store_true", help="try again what took the machine down")


def _add_output(group: "argparse._ArgumentGroup") -> None:
    add = group.add_argument
    add("-o", "--results", default="results", metavar="DIR", help="results folder (results)")
    add("--plan", action="store_true", help="say sizes, time and disk; run nothing")
    add("--json", action="store_true", help="one JSON document on stdout")


def _add_report(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    report = commands.add_parser("report", help="read a table: answer, sizes, charts, what to do")
    add = report.add_argument
    add("tables", nargs="+", metavar="TABLE", help="a table of results, such as results/*.csv")
    add("--html", metavar="F", help="write it as one HTML file, charts included")
    add("--markdown", metavar="F", help="write it as Markdown")
    add("--plots", metavar="DIR", help="write the charts as PNG and SVG files")


def _add_compare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    compare = commands.add_parser("compare", help="set tables side by side")
    add = compare.add_argument
    add("tables", nargs="+", metavar="TABLE", help="tables of results; the first is the baseline")
    add("--html", metavar="F", help="write it as one HTML file, charts included")
    add("--markdown", metavar="F", help="write it as Markdown")
    add("--csv", metavar="F", help="write it as CSV")
    add("--json", action="store_true", help="one JSON document on stdout")
    add("--fail-over", metavar="PERCENT",
        help="exit 4 when one is worse than the first by more (10%%)")  # fmt: skip


def _add_predict(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    predict = commands.add_parser("predict", help="what to expect of a machine, without loading")
    add = predict.add_argument
    add("--size", required=True, metavar="SIZE", help="bytes of the model's weights (12GB)")
    add("--ram", required=True, metavar="SIZE", help="memory of the machine (16GB means 16 GiB)")
    add("--device", default="cpu", choices=["cpu", "gpu"], help="where it is to run (cpu)")
    add("--format", default="savedmodel", choices=["savedmodel", "keras", "h5", "weights_h5"],
        help="how the model is stored (savedmodel)")  # fmt: skip
    add("--os", metavar="NAME", help="system of the machine, such as macos-15 or linux")
    add("--from", dest="tables", nargs="+", default=[], metavar="TABLE",
        help="tables to predict from (those in results/)")  # fmt: skip
