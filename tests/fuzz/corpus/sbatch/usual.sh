#!/bin/bash
#SBATCH --job-name=resnet -N 1 -n1 -c 8
#SBATCH --gres=gpu:a100:2,tmp:3 --mem=64G -t 1-12:30:00 # remark
#SBATCH -o logs/%x-%j.out -A vision --partition=gpu --qos normal
#SBATCH --signal=B:USR1@120 --comment="two words" --nice --mem-per-gpu=1G
#SBATCH -a 0-9%2 -d afterok:7 -b now+1hour --export=NONE,A=b -H
#STINT --min-gpus 1 --time=2h --hold -J 'my job'
echo hello
#SBATCH --late
