// SPDX-License-Identifier: MIT
#pragma once

#include "hosts/allotment.h"

namespace nodelay {

// Jobs of Slurm.

/// The CPUs of this node that are this process's. In a task that srun started, those of
/// the task: SLURM_CPUS_PER_TASK, or else its share of SLURM_CPUS_ON_NODE. In a job script
/// all that the job has here: SLURM_CPUS_ON_NODE, or else SLURM_CPUS_PER_TASK, or else this
/// node's number in SLURM_JOB_CPUS_PER_NODE or SLURM_TASKS_PER_NODE. Where the job has several
/// nodes (SLURM_JOB_NUM_NODES, SLURM_NNODES), those of its tasks here come first: this node's
/// number in SLURM_TASKS_PER_NODE times SLURM_CPUS_PER_TASK, but not more than SLURM_CPUS_ON_NODE.
CoreCount slurm_cores(const Machine& machine);

/// The hosts of SLURM_JOB_NODELIST, or else of SLURM_NODELIST, each as often as
/// SLURM_JOB_CPUS_PER_NODE, or else SLURM_TASKS_PER_NODE, says; once, with a warning, where
/// neither does. Empty with a warning where the variables are damaged or do not fit each
/// other.
HostList slurm_hosts(const Machine& machine);

}  // namespace nodelay
