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
  [stencil]="gcc $flags -DN=1500 -DTIMES=8 $sources/stencil.c"
  [csr]="gcc $flags -DROWS=400000 -DTIMES=10 $sources/csr.c"
)

# best KEY COMMAND... runs a command, and keeps the least of its seconds as least[KEY], and
# of those of all CPUs together as work[KEY].
declare -A least work
TIMEFORMAT='%R %U %S'
best() {
  local key=$1 wall user system
  shift
  read -r wall user system < <({ time "$@" >/dev/null 2>&1; } 2>&1)
  keep "least[$key]" "$wall"
  keep "work[$key]" "$(echo "$user + $system" | bc)"
}

# keep NAME SECONDS keeps the least in a variable.
keep() {
  local -n variable=$1
  if [[ -z ${variable:-} || $(echo "$2 < $variable" | bc) == 1 ]]; then
    variable=$2
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
    best "$name-plain" "./$name.plain"
  done
done

echo "The least of $rounds interleaved rounds: seconds of the whole command, and of all CPUs"
echo "together; millions of accesses a second; and the ratio of bench to Cachegrind."
row='%-8s %-10s %8s %8s %8s %8s %8s\n'
# shellcheck disable=SC2059 # the row is a format
printf "$row" program command seconds of\ CPUs accesses ratio of\ CPUs
for name in "${names[@]}"; do
  refs=$(python3 -c 'if True:
    import json, sys
    counts = json.load(sys.stdin)["counts"]
    print(counts["Dr"] + counts["Dw"])' <"$name.json")
  theirs=$(sed -n 's/,//g; s/.*D *refs: *\([0-9]*\).*/\1/p' "$name.txt")
  for command in plain ours build cachegrind; do
    key=$name-$command
    n=$refs
    [[ $command != cachegrind ]] || n=$theirs
    # shellcheck disable=SC2059 # the row is a format
    printf "$row" "$name" "$command" "${least[$key]}" "${work[$key]}" \
      "$(echo "$n / ${least[$key]} / 1000000" | bc)" \
      "$(echo "scale=2; ${least[$key]} / ${least[$name-cachegrind]}" | bc)" \
      "$(echo "scale=2; ${work[$key]} / ${work[$name-cachegrind]}" | bc)"
  done
done
