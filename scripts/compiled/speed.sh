#!/usr/bin/env bash
# Times bench sim --exec and Cachegrind on the same sources and flags, in interleaved rounds.
# Usage: scripts/compiled/speed.sh [BENCH] [ROUNDS]
set -euo pipefail

bench=$(realpath "${1:-bin/bench}")
rounds=${2:-5}
sources=$(realpath "$(dirname "$0")/../../access/compiled/testdata/programs")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

flags='-O2 -fno-tree-vectorize'
d1=32768,8,64
ll=8388608,16,64
names=(article stencil csr)
declare -A commands=(
  [article]="g++ $flags -DN=4000 -DTIMES=3 $sources/article.cpp"
  [stencil]="gcc $flags -DN=4000 $sources/stencil.c"
  [csr]="gcc $flags -DROWS=3000000 $sources/csr.c"
)

# best KEY COMMAND... runs a command, and keeps the least of its seconds as least[KEY].
declare -A least
best() {
  local key=$1 start end
  shift
  start=${EPOCHREALTIME/./}
  "$@"
  end=${EPOCHREALTIME/./}
  if [[ -z ${least[$key]:-} ]] || ((end - start < least[$key])); then
    least[$key]=$((end - start))
  fi
}

ours() { "$bench" sim --exec "./$1.ours" --D1 $d1 --LL $ll --json >"$1.json"; }

with_build() {
  # shellcheck disable=SC2086 # words of a command
  "$bench" cc -- ${commands[$1]} -o "$1.ours"
  ours "$1"
}

cachegrind() {
  valgrind --tool=cachegrind --cache-sim=yes --D1=$d1 --LL=$ll \
    --cachegrind-out-file=/dev/null "./$1.plain" >/dev/null 2>"$1.txt"
}

for name in "${names[@]}"; do
  # shellcheck disable=SC2086 # words of a command
  ${commands[$name]} -o "$name.plain"
done
for ((round = 0; round < rounds; round++)); do
  for name in "${names[@]}"; do
    best "$name-build" with_build "$name"
    best "$name-ours" ours "$name"
    best "$name-cachegrind" cachegrind "$name"
    best "$name-plain" "./$name.plain" >/dev/null
  done
done

echo "The least of $rounds interleaved rounds, in seconds; accesses in millions a second."
row='%-8s %6s %11s %11s %6s %9s %6s %9s %9s\n'
# shellcheck disable=SC2059 # the row is a format
printf "$row" program alone sim\ --exec with\ build rate cachegrind rate ratio with\ build
for name in "${names[@]}"; do
  python3 - "$name" "${least[$name-plain]}" "${least[$name-ours]}" "${least[$name-build]}" \
    "${least[$name-cachegrind]}" "$row" <<'END'
import json
import re
import sys

name, (plain, ours, build, cachegrind), row = sys.argv[1], map(int, sys.argv[2:6]), sys.argv[6]
counts = json.load(open(name + ".json"))["counts"]
refs = int(re.search(r"D +refs: +([\d,]+)", open(name + ".txt").read())[1].replace(",", ""))
print((row.replace("\\n", "")) % (
    name, f"{plain / 1e6:.2f}", f"{ours / 1e6:.2f}", f"{build / 1e6:.2f}",
    f"{(counts['Dr'] + counts['Dw']) / ours:.0f}", f"{cachegrind / 1e6:.2f}",
    f"{refs / cachegrind:.0f}", f"{ours / cachegrind:.2f}", f"{build / cachegrind:.2f}"))
END
done
