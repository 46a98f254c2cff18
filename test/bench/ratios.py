"""The ratios that a benchmark reports, for the plot: bench.sh keeps the file when RATIOS names one."""

import os


def keep(group, what, ratio, must=None):
    """One bar of the plot; above 1 widecol is better.  must: the least that the project asks for."""
    with open(os.path.join(os.environ["TMPDIR"], "ratios.tsv"), "a", encoding="utf-8") as f:
        f.write(f"{group}\t{what}\t{ratio:.4f}\t{must if must is not None else 'NaN'}\n")
