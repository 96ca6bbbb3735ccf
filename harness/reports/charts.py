"""All pictures: each function gives a figure, which `svg` puts into a page and `save` into a file.

`speed`, `memory`, `load` and `back_and_written` take the series of a table, `timeline` one trial,
`overlaid` named series of several tables. The colours' names for pages are in `palette`.
"""

from harness.reports.charts_memory import load, memory
from harness.reports.charts_overlaid import overlaid
from harness.reports.charts_speed import back_and_written, speed
from harness.reports.charts_svg import save, svg
from harness.reports.charts_time import timeline

__all__ = ["back_and_written", "load", "memory", "overlaid", "save", "speed", "svg", "timeline"]
