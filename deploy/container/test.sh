#!/bin/sh
# Builds the image where there is a builder, and runs the program in it. Without one,
# as root, it runs what the Dockerfile builds alone in an empty folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/out"
arguments="run --filter .name:Pitch --count 6 --sample-time 100us -o /out/run.txt"
for builder in docker podman; do
	if command -v $builder >/dev/null && $builder info >/dev/null 2>&1; then
		$builder build -q -f deploy/container/Dockerfile -t stridebench-test . >/dev/null
		$builder run --rm -v "$dir/out:/out" stridebench-test $arguments >/dev/null
		how="image built and run by $builder"
		break
	fi
done
if [ -z "${how:-}" ]; then
	[ "$(id -u)" = 0 ] || { echo "test-container: skipped, no docker or podman here, and not root"; exit 0; }
	command=$(sed -n 's/^RUN //p' deploy/container/Dockerfile)
	sh -c "$(echo "$command" | sed "s|-o /bench|-o $dir/bench|")"
	mkdir "$dir/proc" # which containers have, in a name space of its own here
	unshare -m sh -c "mount -t proc proc $dir/proc && exec chroot $dir /bench $arguments" >/dev/null
	how="no builder here: what the Dockerfile builds ran alone in an empty root"
fi
grep -q '^# end: ' "$dir/out/run.txt"
echo "test-container: $how, $(grep -c '^Benchmark' "$dir/out/run.txt") results"
