"""The text of "What we found". It may quote only figures that its page's tables have."""

import re
from collections.abc import Iterable

from punc.results.page_data import PageData, Published
from punc.results.seeds import Spread, join_seeds

NUMBER = re.compile(r"(?<![\d,.])\d+\.\d+(?![\d.])")


def unknown_figures(text: str, data: PageData, published: Iterable[Published] = ()) -> list[str]:
    """The numbers with a decimal point in a text that are no figure of the tables, rounded to as many digits.

    Figures are metrics, published ones too, the means and deviations of several seeds, and the differences and p of
    paired tests.
    """
    figures = [value.value for metrics in data.metrics.values() for value in metrics.values()]
    figures += [number for row in join_seeds(data.metrics).values() for one in row.values() if isinstance(one, Spread)
                for number in (one.value, one.deviation)]
    figures += [row.value for row in published]
    figures += [number for test in data.tests for number in (abs(test.difference), test.p)]
    shown = {digits: {f"{figure:.{digits}f}" for figure in figures} for digits in range(1, 5)}
    return [number for number in dict.fromkeys(NUMBER.findall(text))
            if number not in shown.get(len(number.partition(".")[2]), ())]
