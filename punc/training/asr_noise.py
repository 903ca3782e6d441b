"""ASR noise in training: the training set with other errors for each reading of it.

The errors of a reading depend on the seed and the number of the reading alone, so a run that goes on after a stop, and
each rank, draws the same ones.
"""


from punc.noise.store_noise import StoreNoise
from punc.tokens.store import Store
from punc.tokens.store_set import StoreSet
from punc.training.batching import epoch_seed
from punc.training.options import TrainingOptions


class AsrNoise:
    """The errors of a training set, by `--asr-noise` and `--confusions`. Raises InputError as `StoreNoise` does."""

    def __init__(self, data: StoreSet, store: Store, options: TrainingOptions):
        self._options, self._reading = options, -1
        self._noise = StoreNoise(data, store, options.confusions, options.asr_noise,
                                 options.asr_noise_share, options.asr_noise_draws)

    def of_epoch(self, epoch: int) -> StoreSet | None:
        """The set with the errors of an epoch, from 0; None if they are those of the last call.

        The epochs that read the set once, by `--parts`, have the same errors.
        """
        reading = epoch // self._options.parts
        if reading == self._reading:
            return None
        self._reading = reading
        return self._noise.draw(epoch_seed(self._options, reading))
