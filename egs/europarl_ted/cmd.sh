# How jobs are run. The line below runs them on this machine; on a cluster, use one of the commented lines instead.
# shellcheck shell=bash disable=SC2034

cmd=run.pl
# cmd="slurm.pl --mem 4G --num-threads 2 --time 24:00:00"   # Slurm; --mem is for each thread; see utils/slurm.pl
# cmd="queue.pl --mem 4G --num-threads 2"                   # GridEngine; Kaldi's queue.pl must be on PATH
train_cmd=  # for training jobs that need other resources, such as a GPU for each process of --train-ranks 4
# train_cmd="slurm.pl --gpu 4 --num-threads 4"               # see docs/train-in-parallel.md for one and several nodes
