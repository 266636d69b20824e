"""The kinds of charts, and how one becomes a picture.

A chart is described once, for pages and for papers, and its width is chosen when it is drawn.
"""

from netdyno.report.charts.bars import Bar, bar_chart, then_and_now
from netdyno.report.charts.files import write_chart
from netdyno.report.charts.lines import Level, Line, Point, Step, history_chart, learning_chart, scaling_chart
from netdyno.report.charts.marks import Chart
from netdyno.report.charts.svg import render_svg

__all__ = [
    "Bar",
    "Chart",
    "Level",
    "Line",
    "Point",
    "Step",
    "bar_chart",
    "history_chart",
    "learning_chart",
    "render_svg",
    "scaling_chart",
    "then_and_now",
    "write_chart",
]
