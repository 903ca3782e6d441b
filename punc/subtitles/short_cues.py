"""Lengthens cues that are too short to read, by joining cues, moving words between them or changing their times.

A cue is too short if the first word after it begins less than LEAST seconds after its own first word. Such a cue
contains a short sentence, or the short last part of one. The remedies, in order of preference:

1. The cue is joined with the previous or the next cue if two lines can hold both.
2. Words move to the cue from the previous or the next cue, so that both cues are long enough.
3. The cue appears up to SHIFT seconds early. If that is not enough, the next cue appears up to SHIFT seconds late.

A cue between two changes of the speaker can still be too short after these steps.
"""

from collections.abc import Callable

import numpy as np

LEAST = 1.0  # s; viewers cannot read a cue that is shown for less time
SHIFT = 0.4  # s; viewers do not notice that text and voice are this far apart
# In characters: a cut at a pause may make the lengths of two cues differ by this much more than a cut elsewhere. For a
# cut after a mark, this value is doubled; for a cut at the end of a sentence, it is trebled.
MARK_WORTH = 84.0

Cue = tuple[int, int]  # the first word, and the word after the last
Span = Callable[[np.ndarray, np.ndarray], np.ndarray]


class ShortCues:
    """Joins short cues to their neighbours, or lengthens them with words from their neighbours.

    reach    (first words, ends) → the first word that no longer fits into two lines, at most the end
    length   (first words, ends) → number of characters
    until    (N,) seconds: when the word after each word begins; infinite after a recording's last word
    bounds   bool (N,): whether a cue must end after each word
    rank     (N,): how good each word is as the last word of a cue
    """

    def __init__(self, reach: Span, length: Span, begins: np.ndarray,
                 until: np.ndarray, bounds: np.ndarray, rank: np.ndarray):
        self._reach, self._length, self._rank = reach, length, rank
        self._begins, self._until, self._bounds = begins, until, bounds

    def lengthened(self, first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Apply steps 1 and 2. Cues are passed and returned as two arrays (C,): the first word of each cue, and the
        word after its last word."""
        cues, done, following = list(zip(first.tolist(), last.tolist())), list[Cue](), 0
        for number in np.flatnonzero(self._until[last - 1] - self._begins[first] < LEAST).tolist():
            if number < following:
                continue
            done += cues[following:number]
            waiting, following = [cues[number]], number + 1
            while waiting:
                cue = waiting.pop()
                before = done[-1] if done and not self._bounds[cue[0] - 1] else None
                after = waiting[-1] if waiting else cues[following] if following < len(cues) else None
                after = None if self._bounds[cue[1] - 1] else after
                is_short = self._until[cue[1] - 1] - self._begins[cue[0]] < LEAST
                shared = self._shared(before, cue, after) if is_short else None
                if not shared:
                    done.append(cue)
                elif shared[-1][1] == cue[1]:
                    done.pop()
                elif waiting:
                    waiting.pop()
                else:
                    following += 1
                waiting += shared[::-1] if shared else []
        done += cues[following:]
        firsts, lasts = np.array(done, np.int64).T
        return firsts, lasts

    def _shared(self, before: Cue | None, cue: Cue, after: Cue | None) -> list[Cue]:
        """Return one or two cues that contain the words of `cue` and of one neighbour; an empty list if neither step 1
        nor step 2 is possible."""
        pairs = [(one, other) for one, other in ((before, cue), (cue, after)) if one and other]
        whole = []
        for (first, middle), (_, last) in pairs:
            all_first, all_last = np.array([first]), np.array([last])
            if self._reach(all_first, all_last)[0] == last:
                # Prefer pairs between which a cut is least suitable, then pairs with little text.
                whole.append((-self._rank[middle - 1], -int(self._length(all_first, all_last)[0]), first, last))
        if whole:
            *_, first, last = max(whole)
            return [(first, last)]
        cuts = [(*self._cut(one[0], other[1]), one[0], other[1]) for one, other in pairs]
        score, at, first, last = max(cuts, default=(-np.inf, 0, 0, 0))
        return [(first, at), (at, last)] if score > -np.inf else []

    def _cut(self, first: int, last: int) -> tuple[float, int]:
        """Return the score and the position of the best cut of words into two cues; minus infinity if there is none."""
        at = np.arange(first + 1, last)
        left, right = np.full_like(at, first), np.full_like(at, last)
        good = self._until[at - 1] - self._begins[first] >= LEAST
        good &= self._until[last - 1] - self._begins[at] >= LEAST
        good &= (self._reach(left, at) == at) & (self._reach(at, right) == right)
        unequal = np.abs(self._length(left, at) - self._length(at, right))
        scores = np.where(good, self._rank[at - 1] * MARK_WORTH - unequal, -np.inf)
        best = int(scores.argmax())
        return float(scores[best]), int(at[best])


def moved(starts: np.ndarray, stops: np.ndarray, spoken: np.ndarray, zeros: np.ndarray,
          gap: int) -> tuple[np.ndarray, np.ndarray]:
    """Apply step 3: short cues begin earlier or end later. Return when each cue begins and ends, two arrays (C,), in
    milliseconds.

    spoken   (C,): when the last word of each cue ends
    zeros    (C,): when the recording of each cue begins; all recordings share a time axis, on which they are far apart
    """
    least, shift = round(1000 * LEAST), round(1000 * SHIFT)
    starts, stops = starts.copy(), stops.copy()
    for i in np.flatnonzero(stops - starts < least).tolist():
        free = max(zeros[i], spoken[i - 1], starts[i - 1] + least) if i else zeros[i]
        early = max(0, min(least - (stops[i] - starts[i]), shift, starts[i] - free))
        starts[i] -= early
        if early and i and starts[i] - stops[i - 1] < gap:
            stops[i - 1] = starts[i]
        missing = least - (stops[i] - starts[i])
        if missing > 0:  # the next cue already begins where this cue ends
            following = starts[i + 2] if i + 2 < len(starts) else starts[i + 1] + 2 * least
            late = max(0, min(missing, shift, following - starts[i + 1] - least))
            stops[i] += late
            starts[i + 1] += late
            stops[i + 1] = max(stops[i + 1], starts[i + 1] + min(least, following - starts[i + 1]))
    return starts, stops
