# How jobs are run: on this machine, or by a scheduler. On a cluster one of these lines takes the place of the last:
#
#   cmd="slurm.pl --mem 4G --num-threads 2 --time 24:00:00"    # Slurm; memory is for each thread; see utils/slurm.pl
#   cmd="queue.pl --mem 4G --num-threads 2"                    # GridEngine; it is Kaldi's, and has to be on PATH
# shellcheck shell=bash disable=SC2034

cmd=run.pl
