#!/bin/sh
# submit.sh SHARDS FOLDER [flags of sbatch]: runs the suite in so many shards, and
# merges them into FOLDER/merged/run.txt when all have succeeded.
set -eu
[ $# -ge 2 ] || { echo "usage: submit.sh SHARDS FOLDER [flags of sbatch]" >&2; exit 2; }
shards=$1 RESULTS=$(mkdir -p "$2" && cd "$2" && pwd)
shift 2
export RESULTS
here=$(cd "$(dirname "$0")" && pwd)
array=$(sbatch --parsable --array="1-$shards" --output="$RESULTS/%a.log" "$@" "$here/node.sbatch")
sbatch --parsable --dependency="afterok:${array%%;*}" --kill-on-invalid-dep=yes --output="$RESULTS/merge.log" "$@" "$here/merge.sbatch"
