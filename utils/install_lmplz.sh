#!/usr/bin/env bash
# Builds KenLM's lmplz, which estimates n-gram models, and puts it into .venv/bin: bash utils/install_lmplz.sh. Does
# nothing if lmplz is on PATH. Needs cmake, a C++ compiler and the headers of some libraries. With --packages, only
# prints the names of the Debian and Ubuntu packages that provide these.
set -eu

cd "$(CDPATH='' cd -- "$(dirname "$0")/.." && pwd -P)"
version=0.3.0
sha256=$(sed -n "s/^# kenlm==$version source sha256 //p" constraints.txt)

fail() {
  echo "utils/install_lmplz.sh: $*" >&2
  exit 1
}

packages="g++ make cmake libboost-program-options-dev libboost-system-dev libboost-thread-dev"
packages="$packages libboost-iostreams-dev libboost-test-dev libeigen3-dev zlib1g-dev libbz2-dev liblzma-dev"
if [ "${1-}" = --packages ]; then
  echo "$packages"
  exit
fi

if command -v lmplz >/dev/null || [ -x .venv/bin/lmplz ]; then
  exit
fi
for program in cmake make c++; do
  command -v $program >/dev/null || fail "no $program; on Debian and Ubuntu: apt-get install $packages"
done
echo "#include <boost/program_options.hpp>
#include <boost/thread.hpp>
#include <boost/iostreams/categories.hpp>
#include <boost/test/unit_test_suite.hpp>
#include <zlib.h>
#include <bzlib.h>
#include <lzma.h>" | c++ -x c++ -fsyntax-only - 2>/dev/null ||
  fail "headers of Boost, zlib, bzip2 or lzma are missing; on Debian and Ubuntu: apt-get install $packages"

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
echo "Building lmplz of KenLM $version: some minutes, once." >&2
# This step uses pip in a separate environment, so that it can run while utils/setup.sh fills .venv.
"${PYTHON:-python3}" -m venv "$place/venv" || fail "could not make a virtual environment; see the message above"
pip() { "$place/venv/bin/python" -m pip --disable-pip-version-check --no-input --quiet --quiet "$@" >&2; }
# Without these two packages, which new virtual environments may lack, kenlm cannot report its requirements.
"$place/venv/bin/python" -c 'import setuptools, wheel' 2>/dev/null || pip install setuptools wheel ||
  fail "pip could not install setuptools and wheel"
pip download --no-deps --no-build-isolation --no-binary :all: --dest "$place" "kenlm==$version" ||
  fail "pip could not download kenlm $version; see the message above"
echo "$sha256  $place/kenlm-$version.tar.gz" | sha256sum --check --status ||
  fail "kenlm-$version.tar.gz has another checksum than in constraints.txt"
tar -xzf "$place/kenlm-$version.tar.gz" -C "$place"
# With -O1 instead of CMake's -O3, lmplz is as fast, and compiles in three quarters of the time.
if ! { cmake -S "$place/kenlm-$version" -B "$place/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_POLICY_VERSION_MINIMUM=3.5 \
      -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" &&
    cmake --build "$place/build" --target lmplz --parallel 2; } >"$place/log" 2>&1; then
  tail -n 20 "$place/log" >&2
  fail "KenLM does not compile; on Debian and Ubuntu: apt-get install $packages"
fi
bash utils/setup.sh  # makes .venv, or waits for it
mv "$place/build/bin/lmplz" .venv/bin/lmplz.new
mv .venv/bin/lmplz.new .venv/bin/lmplz
echo "Built $PWD/.venv/bin/lmplz" >&2
