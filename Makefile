# For GNU make 3.81 (macOS) and newer. Paths are relative: the checkout's own may hold spaces.
## make bench          measure this machine: can it use a 12 GB model? Asks before it risks anything
##                     (MODEL="a folder/model": your own, a SavedModel, .keras or .h5)
## make bench-quick    three small sizes, under two minutes: shows that everything works
## make doctor         what this machine is, what every probe says now, and what to do
##                     (ARGS="--save DIR --probe": a folder to send, and a probe of known size;
##                     ARGS=--copy: does the GPU use the same bytes as the CPU?)
## make test           the tests, without the slow ones
## make test-slow      the tests that take minutes and gigabytes
## make budgets        what memcliff itself may cost: memory, disk, CPU, reading; each with its figure
## make bench-pytest   loading and inferring as pytest-benchmark cases (ARGS="--sizes 1GB,4GB
##                     --rounds 5 --benchmark-autosave", and its other options)
## make bench-peers    memcliff's sampler beside psrecord and memory_profiler
## make bench-cost     all costs, as results/harness-cost.md (an hour; fails when one is too high);
##                     SUITES="growth disturbance" measures these anew and leaves the others
## make cliff          the cliff of a 2 GiB machine, three times (Linux, root, half an hour)
## make report         what the tables in results/ say, also as results/report.html, with charts
## make compare        those tables side by side (both: TABLES="a.csv b.csv" takes others)
## make check          format, lint and types
## make format         put the code into the project's format
## make setup          make or mend .venv; the other targets do it when it is missing
## make clean          remove model files, traces and caches, not .venv (for that: rm -rf .venv)
## make help           this list
##
## make bench ARGS="--device cpu --target 6GB"    passes options on: to bench, bench-quick, doctor,
##                                                report, compare, test, test-slow and budgets,
##                                                bench-pytest, bench-peers and bench-cost

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: bench bench-quick doctor report compare test test-slow budgets bench-pytest bench-peers bench-cost cliff check format setup clean help ready

help:
	@sed -n 's/^## \{0,1\}//p' Makefile

setup:
	@sh .ci/setup

ready:
	@sh .ci/setup --if-needed

# A MODEL of the environment is some other program's.
bench: ready
	@.venv/bin/memcliff run $(if $(filter command,$(origin MODEL)),--model "$$MODEL") $(ARGS)

bench-quick: ready
	@.venv/bin/memcliff run --sizes 256MiB,512MiB,1GiB --yes $(ARGS)

doctor: ready
	@.venv/bin/memcliff doctor $(ARGS)

TABLES = results/*.csv

report: ready
	@.venv/bin/memcliff report $(TABLES) --html results/report.html $(ARGS)

compare: ready
	@.venv/bin/memcliff compare $(TABLES) $(ARGS)

test: ready
	@.venv/bin/python -m pytest -m 'not slow' $(ARGS)

test-slow: ready
	@.venv/bin/python -m pytest -m slow $(ARGS)

budgets: ready
	@.venv/bin/python -m pytest -q -s bench/test_budgets.py bench/test_reading_cost.py bench/test_timeline_cost.py $(ARGS)

bench-pytest: ready
	@.venv/bin/python -m pytest bench/test_trials.py $(ARGS)

bench-peers: ready
	@.venv/bin/python -m bench.peers $(ARGS)

bench-cost: ready
	@sh .ci/cost $(ARGS)

cliff: ready
	@.venv/bin/python -m pytest -q -s bench/test_cliff.py $(ARGS)

check: ready
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

format: ready
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

# Only removes: it does not fetch hundreds of megabytes to look for model files.
# .benchmarks stays: it holds what --benchmark-autosave kept, the user's baselines.
clean:
	@if [ -x .venv/bin/memcliff ]; then .venv/bin/memcliff clean; else \
		echo 'No .venv: model files were not looked for (make setup clean removes them too).'; fi
	@rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	@find . -path ./.venv -prune -o -name __pycache__ -type d -prune -exec rm -rf '{}' +
