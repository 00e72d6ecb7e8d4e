#!/bin/sh
# Runs submit.sh on a slurmctld and a slurmd of its own, as root, with a node that fails
# while a task runs. Without Slurm it says so, and is fine.
set -eu
for program in munged slurmctld slurmd sbatch scontrol squeue; do
	PATH=$PATH:/usr/sbin command -v $program >/dev/null || { echo "test-slurm: skipped, no $program here (Debian: slurm-wlm and munge)"; exit 0; }
done
[ "$(id -u)" = 0 ] || { echo "test-slurm: skipped, slurmd wants to be root"; exit 0; }
PATH=$PATH:/usr/sbin
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
# ours are the processes that were started here, and those that these have started
# since, such as slurmstepd, which outlives slurmd: they have our SLURM_CONF.
ours() {
	for found in $(env -u SLURM_CONF grep -ls "SLURM_CONF=$dir/slurm.conf" /proc/[0-9]*/environ); do
		found=${found#/proc/}
		echo "${found%/environ}"
	done
}
stop() {
	trap '' INT TERM
	scancel --me >/dev/null 2>&1 || :
	for signal in TERM KILL; do
		tries=20
		while found=$(ours) && [ -n "$found" ] && [ $tries -gt 0 ]; do
			kill -$signal $found 2>/dev/null || :
			tries=$((tries - 1))
			sleep 0.5
		done
	done
	wait
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 130' INT TERM
chmod 755 "$dir"
mkdir "$dir/munge" "$dir/state" "$dir/spool"
dd if=/dev/urandom of="$dir/munge/key" bs=1024 count=1 2>/dev/null
chmod 600 "$dir/munge/key"
host=$(hostname -s)
export SLURM_CONF="$dir/slurm.conf"
cat > "$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/linear
MpiDefault=none
ReturnToService=2
JobRequeue=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP
CONF
munged --foreground --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" 2>"$dir/munged.err" &
sleep 1
slurmctld -D >"$dir/slurmctld.log" 2>&1 &
slurmd -D -N "$host" >"$dir/slurmd.log" 2>&1 &

# wait_for SECONDS WORDS...: until the words succeed.
wait_for() {
	left=$1
	shift
	until "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || { echo "test-slurm: waited in vain for: $*" >&2; squeue >&2 || :; tail -n 20 "$dir"/*.log "$dir"/*.err "$dir"/run/*.log >&2 || :; exit 1; }
		sleep 1
	done
}
idle() { sinfo -h -o %t | grep -q '^idle'; }
running() { squeue -h -t R -o %j | grep -q "^stridebench$"; }
wait_for 60 idle

export BENCH="${BENCH:-$here/../../bin/bench}" BENCHFLAGS="--quick --count 6 --sample-time 20ms"
"$here/submit.sh" 3 "$dir/run"
wait_for 60 running
sleep 1
scontrol update nodename="$host" state=down reason=test # what fails takes its task along
sleep 2
scontrol update nodename="$host" state=resume 2>/dev/null || : # it may be back already
# Slurm starts a task that was requeued two minutes later, unless it is told to at once.
requeued() { squeue -h -r -t PD -n stridebench -o "%i %r" | grep -q BeginTime; }
wait_for 30 requeued
for id in $(squeue -h -r -t PD -n stridebench -o %i); do scontrol update jobid="$id" starttime=now; done
wait_for 300 test -e "$dir/run/merged/run.txt"
grep -q '^# merged: 3 of 3 shards$' "$dir/run/merged/run.txt"
grep -hiq -e requeue -e 'NODE FAIL' "$dir"/run/*.log "$dir/slurmctld.log" || { echo "test-slurm: no task was requeued" >&2; exit 1; }
echo "test-slurm: 3 shards, one of them requeued, merged: $(grep -c '^Benchmark' "$dir/run/merged/run.txt") results"
