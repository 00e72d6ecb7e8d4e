#!/usr/bin/env bash
# gate.sh counts cache misses and compares them with a baseline. action.yml calls it, and
# it runs without GitHub too:
#
#	LOOPS='src/gemm.c -D N=1000' BASELINE=ci/loops.txt gate.sh
#
# LOOPS has a C file a line, each followed by its flags of bench sim. SUITE names a workload
# of bench run, in the place of LOOPS. CACHES, CHECK_FLAGS and BENCH are optional.
# Exit codes: 0 nothing became worse, 1 something did or vanished, 2 nothing can be said.
set -euo pipefail

bench=${BENCH:-bench} baseline=${BASELINE:-} caches=${CACHES:-cachegrind-article}
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then exec 3>>"$GITHUB_STEP_SUMMARY"; else exec 3>&1; fi # the Markdown
dir=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/bench.XXXXXX")
: >"$dir/new.txt"

# annotate says in the log, and on GitHub above the run, why the check failed.
annotate() {
	local text=${1//%/%25}
	printf '::error title=bench::%s\n' "${text//$'\n'/%0A}"
}

# fail ends the check before anything is compared.
fail() {
	annotate "$1"
	printf '### Memory layouts: nothing was compared\n\n```\n%s\n```\n' "$1" >&3
	exit 2
}

# try runs bench. If that fails, so does the check, with what was asked for and the reason.
try() {
	local asked=$1
	shift
	"$bench" "$@" </dev/null >"$dir/stdout" 2>"$dir/stderr" || fail "$asked: $(tail -n 1 "$dir/stderr")"
	cat "$dir/stderr" >&2
}

# keep adds results to the new ones, without the folder, which would differ in every run.
keep() {
	sed "s|$dir/||g" "$dir/one.txt" >>"$dir/new.txt"
}

count_loops() {
	local words where=--preset
	[ ! -f "$caches" ] || where=--config
	while read -r -a words; do
		[ ${#words[@]} -gt 0 ] || continue
		try "loops: ${words[*]}" sim --program "${words[@]}" "$where" "$caches" -o "$dir/one.txt"
		keep
	done <<<"$LOOPS"
	[ -s "$dir/new.txt" ] || fail "loops has only empty lines: name C files, one a line"
	local twice
	twice=$(grep '^Benchmark' "$dir/new.txt" | cut -d ' ' -f 1 | sort | uniq -d | sed -n 1p)
	[ -z "$twice" ] || fail "loops: two lines have results of one name, $twice. \
Names have no folders: link one of the files under another name (ln -s b/kernel.c b-kernel.c)"
}

count_suite() {
	if [ ! -f "$caches" ]; then
		try "caches: $caches" machine --preset "$caches"
		caches=$dir/caches.yaml
		mv "$dir/stdout" "$caches"
	fi
	try "suite: $SUITE" run --suite "$SUITE" --count 1 --caches "$caches" -o "$dir/one.txt"
	keep
}

command -v "$bench" >/dev/null || fail "bench: $bench is not a program: give the path of bench, or leave it empty to have it installed"
[ -n "$baseline" ] || fail "baseline is empty: name the file with the counts to compare with, such as ci/loops.txt"
case "${LOOPS:+loops}${SUITE:+suite}" in
loops) count_loops ;;
suite) count_suite ;;
loopssuite) fail "loops and suite are both given: call the action once for each, with a baseline of its own" ;;
*) fail "loops and suite are both empty: name C files in loops, one a line, or a workload in suite" ;;
esac
[ -z "${GITHUB_OUTPUT:-}" ] || echo "results=$dir/new.txt" >>"$GITHUB_OUTPUT"

code=0
if [ -e "$baseline" ]; then
	read -r -a flags <<<"${CHECK_FLAGS:-}"
	"$bench" check --baseline "$baseline" - --times off --format markdown ${flags[@]+"${flags[@]}"} \
		<"$dir/new.txt" >"$dir/report.md" 2>"$dir/stderr" || code=$?
	[ -s "$dir/report.md" ] || fail "$(tail -n 1 "$dir/stderr")"
	sed "s|of <code>-|of <code>the new results|" "$dir/report.md" >&3
	[ $code = 0 ] || annotate "$(tail -n 1 "$dir/stderr")"
else
	code=2
	annotate "baseline: $baseline does not exist: commit the new results under that name (they are in this job's summary)"
	printf '### Memory layouts: no baseline yet\n\n`%s` does not exist, so nothing was compared.\n' "$baseline" >&3
fi
if ! cmp -s "$baseline" "$dir/new.txt"; then
	printf '\nTo accept the new results, make them the whole of `%s` and commit it.\n\n' "$baseline"
	printf '<details><summary>The new results</summary>\n\n```\n%s\n```\n\n</details>\n' "$(cat "$dir/new.txt")"
fi >&3
exit $code
