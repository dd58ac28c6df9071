#!/bin/sh
#BSUB -J extrap-mine[1-4]
#BSUB -n 1
#BSUB -gpu num=1
#BSUB -W 4:00
#BSUB -r
# A sweep as an array of LSF, in a folder that all nodes share: bsub < examples/lsf.sh
# Give fewer shards than jobs: a hash chooses the shard of a job.
# Without a queue: for LSB_JOBINDEX in 1 2 3 4; do export LSB_JOBINDEX; sh examples/lsf.sh & done; wait
extrap -m scheme=rope,alibi seed=0,1,2 study=mine --shard $LSB_JOBINDEX/4 trainer=gpu
