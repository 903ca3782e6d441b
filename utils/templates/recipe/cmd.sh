# How jobs are run: on this machine, or by a scheduler through a script of the same calling convention, as Kaldi's
# slurm.pl and queue.pl are. On a cluster one of the other lines takes the place of the first.
#
#   cmd="slurm.pl --mem 8G --time 24:00:00"
#   cmd="queue.pl --mem 8G"        # GridEngine
# shellcheck shell=bash disable=SC2034

cmd=run.pl
