#!/bin/bash
# A cluster on a machine whose name does not resolve: it has a hosts file of its own.
here=$(realpath "$(dirname "$0")")
# Another name for this machine, as this script and its children see it.
if [ -z "${NAMELESS-}" ] && [ "$(id -u)" = 0 ] && unshare --uts true 2>/dev/null; then
	# shellcheck disable=SC2016 # the inner shell's
	NAMELESS=1 exec unshare --uts sh -c 'hostname no-such-name-$$ && exec bash "$1"' sh "$here/names.sh"
fi
# shellcheck source=tests/cli/lib/check
. "$here/../cli/lib/check"
# shellcheck source=tests/slurm/lib/cluster
. "$here/lib/cluster"

if [ -z "${NAMELESS-}" ] || getent hosts "$(hostname)" >/dev/null; then
	echo "skip - this machine's name cannot be changed for a test, or every name resolves"
	finish
fi
export TYPES=v100
hosts_before=$(cksum /etc/hosts 2>&1)
cluster_begin 1
run "$vcluster" run srun --gres=gpu:1 -t 1 hostname
want 0 "srun runs a step"
out '^no-such-name-' "on a machine whose name does not resolve"
job=$(sbatch --parsable --gres=gpu:1 -o /dev/null --wrap 'sleep 1000')
soon "a job of sbatch runs" is_so "$job" %T RUNNING
run "$vcluster" run sh -c 'exit 7'
want 7 "run passes the code on"
is "the machine's own hosts are untouched" [ "$(cksum /etc/hosts 2>&1)" = "$hosts_before" ]
finish
