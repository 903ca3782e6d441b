"""Labels chosen by their posteriors, against a search through all of them."""

import numpy as np

from punc.decoding.choose import choose


def test_choose_ties_and_scale():
    posteriors = np.array([[.5, .3, .2], [.4, .4, .2], [.2, .4, .4], [.45, .25, .3]])
    log_probs = np.log(posteriors)
    assert choose(log_probs).tolist() == [0, 0, 1, 0]  # ties go to the weaker label
    for scale in ([1, 1, 1], [.5, 1, 1], [.5, 1, 2], [1, 1, 10], [3, 1, 1]):
        expected = [max(range(3), key=lambda k: row[k] * scale[k]) for row in posteriors]
        assert choose(log_probs, np.array(scale)).tolist() == expected
    assert choose(log_probs, np.array([.5, 1, 1])).tolist() == [1, 1, 1, 2]
