PUNC_ROOT=/work/english/code
export PUNC_ROOT PATH=/work/english/bin:/work/ci5/main/.venv/bin:$PUNC_ROOT/utils:$PATH PYTHONPATH=/work/english/code${PYTHONPATH:+:$PYTHONPATH}
export LC_ALL=C PYTHONUTF8=1 PYTHONIOENCODING=utf-8 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
