#!/usr/bin/env bash
# Installs the programs that some tests run beside ours, Slurm and sclite, where that is possible: as root on Debian or
# Ubuntu. Where it is not, those tests are skipped, and say what is missing.
set -u

command -v slurmctld >/dev/null && command -v munged >/dev/null && { command -v sclite || command -v sctk; } >/dev/null && exit
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "tests/install_tools.sh: not root with apt-get, so no Slurm and no sclite" >&2
  exit
fi
export DEBIAN_FRONTEND=noninteractive
packages=(slurm-wlm munge sctk)
{ timeout 200 apt-get install -qq -y --no-install-recommends "${packages[@]}" ||
  { timeout 100 apt-get update -qq && timeout 200 apt-get install -qq -y --no-install-recommends "${packages[@]}"; }
} >/dev/null 2>&1 || echo "tests/install_tools.sh: ${packages[*]} could not be installed; their tests are skipped" >&2
