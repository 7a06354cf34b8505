#!/bin/bash
#SBATCH --job-name=seeds
#SBATCH --array=0-3%2
#SBATCH --gpus=1
#SBATCH --time=00:10:00
#SBATCH --signal=USR2@20
#SBATCH --requeue
#
# Four seeds, two at a time; from the top of the source tree:
#
#	stint submit examples/live/array.sh
#
# exec, so that the shell does not stand between Stint and the training: the signal
# would end the shell, and its exit code would hide the 85 that asks to be run again.
index=${SLURM_ARRAY_TASK_ID:-0}
exec python3 examples/live/train.py --seed "$index" \
	--checkpoint "${TMPDIR:-$HOME}/stint-seed-$index-${STINT_ARRAY_ID:-0}.ckpt" "$@"
