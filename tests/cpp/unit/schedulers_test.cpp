// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hosts/methods.h"
#include "unit/made_up_machine.h"

namespace nodelay {
namespace {

using Texts = MadeUpMachine::Texts;
using Names = std::vector<std::string>;
using testing::HasSubstr;

struct CoresCase {
  const char* method;
  Texts variables;
  std::optional<int> cores;
};

TEST(Schedulers, TheCoresOfThisMachineAreReadFromTheEnvironment) {
  const std::vector<CoresCase> cases = {
      {"LSF", {{"LSB_DJOB_NUMPROC", "5"}}, 5},
      {"LSF", {{"LSB_DJOB_NUMPROC", ""}}, {}},
      {"PJM", {{"PJM_VNODE_CORE", "2"}, {"PJM_PROC_BY_NODE", "4"}}, 2},
      {"PJM", {{"PJM_PROC_BY_NODE", "4"}}, 4},
      {"PBS", {{"PBS_NUM_PPN", " 3 "}, {"NCPUS", "2"}}, 3},
      {"PBS", {{"NCPUS", "2"}}, 2},
      {"SGE", {{"NSLOTS", "7"}}, 7},
      {"SGE", {{"NSLOTS", "7"}, {"PE_HOSTFILE", "/pe"}}, 4},
      {"SGE", {{"NSLOTS", "7"}, {"PE_HOSTFILE", "/others"}}, 7},
      {"SGE", {{"NSLOTS", "7"}, {"PE_HOSTFILE", "/absent"}}, 7},
      {"Slurm", {{"SLURM_CPUS_PER_TASK", "3"}}, 3},
      {"Slurm", {{"SLURM_CPUS_PER_TASK", "1"}, {"SLURM_CPUS_ON_NODE", "16"}}, 16},
      {"Slurm",
       {{"SLURM_CPUS_PER_TASK", "1"}, {"SLURM_CPUS_ON_NODE", "16"}, {"SLURM_STEP_ID", "0"}},
       1},
      {"Slurm",
       {{"SLURM_CPUS_ON_NODE", "16"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_TASKS_PER_NODE", "4"}},
       4},
      {"Slurm",
       {{"SLURM_CPUS_PER_TASK", "1"}, {"SLURM_CPUS_ON_NODE", "8"}, {"SLURM_STEP_ID", "4294967290"}},
       8},
      {"Slurm", {{"SLURM_JOB_CPUS_PER_NODE", "2(x2),3"}}, 2},
      {"Slurm", {{"SLURM_JOB_CPUS_PER_NODE", "2(x2),3"}, {"SLURM_NODEID", "2"}}, 3},
      {"Slurm", {{"SLURM_TASKS_PER_NODE", "5(x2),1"}}, 5},
      {"Slurm",
       {{"SLURM_JOB_NUM_NODES", "2"}, {"SLURM_CPUS_ON_NODE", "6"}, {"SLURM_TASKS_PER_NODE", "5,2"}},
       5},
      {"Slurm",
       {{"SLURM_NNODES", "2"},
        {"SLURM_CPUS_ON_NODE", "6"},
        {"SLURM_TASKS_PER_NODE", "5,2"},
        {"SLURM_NODEID", "1"}},
       2},
      {"Slurm",
       {{"SLURM_JOB_NUM_NODES", "3"},
        {"SLURM_CPUS_ON_NODE", "4"},
        {"SLURM_TASKS_PER_NODE", "1(x3)"},
        {"SLURM_CPUS_PER_TASK", "3"}},
       3},
      {"Slurm",
       {{"SLURM_JOB_NUM_NODES", "2"},
        {"SLURM_CPUS_ON_NODE", "4"},
        {"SLURM_TASKS_PER_NODE", "2(x2)"},
        {"SLURM_CPUS_PER_TASK", "3"}},
       4},
      {"Slurm",
       {{"SLURM_JOB_NUM_NODES", "2"},
        {"SLURM_TASKS_PER_NODE", "2000000000(x2)"},
        {"SLURM_CPUS_PER_TASK", "2000000000"}},
       2147483647},
      {"Slurm", {{"SLURM_JOB_NUM_NODES", "2"}, {"SLURM_CPUS_ON_NODE", "6"}}, 6},
      {"Slurm",
       {{"SLURM_JOB_NUM_NODES", "1"}, {"SLURM_CPUS_ON_NODE", "6"}, {"SLURM_TASKS_PER_NODE", "5"}},
       6},
      {"Slurm", {}, {}},
      {"BiocParallel", {{"BIOCPARALLEL_WORKER_NUMBER", "3"}}, 3},
      {"Bioconductor", {{"IS_BIOC_BUILD_MACHINE", "TRUE"}}, 4},
      {"Bioconductor", {{"IS_BIOC_BUILD_MACHINE", "false"}}, {}},
      {"_R_CHECK_LIMIT_CORES_", {}, {}},
      {"_R_CHECK_LIMIT_CORES_", {{"_R_CHECK_LIMIT_CORES_", "warn"}}, 2},
      {"_R_CHECK_LIMIT_CORES_", {{"_R_CHECK_LIMIT_CORES_", "false"}}, {}},
      {"_R_CHECK_LIMIT_CORES_", {{"_R_CHECK_PACKAGE_NAME_", "toy"}}, 2},
      {"_R_CHECK_LIMIT_CORES_", {{"R_BUILD_TEMPLIB", "/tmp/Rinst"}}, 2},
      {"_R_CHECK_LIMIT_CORES_",
       {{"_R_CHECK_PACKAGE_NAME_", "toy"}, {"_R_CHECK_LIMIT_CORES_", "FALSE"}},
       {}},
      {"_R_CHECK_LIMIT_CORES_",
       {{"_R_CHECK_PACKAGE_NAME_", "toy"}, {"R_PARALLELLY_R_CMD_CHECK_NICE", "false"}},
       {}},
  };
  const Texts files = {
      {"/proc/sys/kernel/hostname", "N2.cluster\n"},
      {"/pe", "n2.example 3 all.q@n2 UNDEFINED\nn1 2 all.q@n1 <NULL>\nn2 1 long.q\n"},
      {"/others", "n1 2 all.q@n1 <NULL>\n"}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const MadeUpMachine machine(files, cases[i].variables);
    const auto found = cores_by_method(cases[i].method, machine.get());
    ASSERT_TRUE(found) << cases[i].method;
    EXPECT_EQ(found->cores, cases[i].cores) << cases[i].method << " in case " << i;
    EXPECT_TRUE(found->warnings.empty()) << cases[i].method << " in case " << i;
  }
}

TEST(Schedulers, AVariableThatIsNoNumberIsPassedOverWithAWarning) {
  for (const char* text : {"abc", "5.7", "99999999999", "+-3", "3 4"}) {
    const MadeUpMachine machine({}, {{"PBS_NUM_PPN", text}, {"NCPUS", "2"}});
    const auto found = cores_by_method("PBS", machine.get());
    EXPECT_EQ(found->cores, 2) << text;
    ASSERT_EQ(found->warnings.size(), 1u) << text;
    EXPECT_THAT(found->warnings[0], HasSubstr("PBS_NUM_PPN")) << text;
  }
}

struct HostsCase {
  const char* method;
  Texts variables;
  std::optional<Names> hosts;
  std::vector<const char*> warnings;  // a part of each
};

const Texts kFiles = {{"/nodes", "n2\nn1\r\n\n n1 \nn3\n"},
                      {"/empty", ""},
                      {"/hosts", "p1\np2\n"},
                      {"/pe", "n2 2 all.q@n2 UNDEFINED\nn1 1 all.q@n1 <NULL>\nn2 1 long.q\n"},
                      {"/damaged", "n1\nn2 x\nn3 2\nn4 -1\nn5 99999999\n"}};

const std::vector<HostsCase> kHostsCases = {
    {"LSF", {{"LSB_HOSTS", "h2 h1  h1"}}, Names{"h2", "h1", "h1"}, {}},
    {"LSF", {{"LSB_DJOB_NUMPROC", "5"}}, {}, {}},
    {"PBS", {{"PBS_NODEFILE", "/nodes"}}, Names{"n1", "n1", "n2", "n3"}, {}},
    {"PBS", {{"PBS_NODEFILE", "/nodes"}, {"PBS_NP", "4"}}, Names{"n1", "n1", "n2", "n3"}, {}},
    {"PBS",
     {{"PBS_NODEFILE", "/nodes"}, {"PBS_NP", "5"}},
     Names{"n1", "n1", "n2", "n3"},
     {"PBS_NP is 5"}},
    {"PBS",
     {{"PBS_NODEFILE", "/nodes"}, {"PBS_NUM_NODES", "2"}, {"PBS_NUM_PPN", "3"}},
     Names{"n1", "n1", "n2", "n3"},
     {"PBS_NUM_NODES * PBS_NUM_PPN is 6"}},
    {"PBS", {{"PBS_NODEFILE", "/empty"}}, Names{}, {}},
    {"PBS", {{"PBS_NODEFILE", "/absent"}}, {}, {"no file '/absent'"}},
    {"PBS", {{"PBS_NODEFILE", "/"}}, {}, {"no file '/'"}},
    {"PJM",
     {{"PJM_O_NODEINF", "/hosts"}, {"PJM_VNODE_CORE", "2"}},
     Names{"p1", "p1", "p2", "p2"},
     {}},
    {"PJM",
     {{"PJM_O_NODEINF", "/hosts"}, {"PJM_PROC_BY_NODE", "1"}, {"PJM_VNODE", "3"}},
     Names{"p1", "p2"},
     {"PJM_VNODE is 3"}},
    {"PJM", {{"PJM_O_NODEINF", "/hosts"}}, Names{"p1", "p2"}, {"One worker on each host"}},
    {"SGE", {{"PE_HOSTFILE", "/pe"}}, Names{"n2", "n2", "n1", "n2"}, {}},
    {"SGE", {{"PE_HOSTFILE", "/pe"}, {"NSLOTS", "4"}}, Names{"n2", "n2", "n1", "n2"}, {}},
    {"SGE",
     {{"PE_HOSTFILE", "/pe"}, {"NSLOTS", "7"}},
     Names{"n2", "n2", "n1", "n2"},
     {"NSLOTS is 7"}},
    {"SGE",
     {{"PE_HOSTFILE", "/damaged"}},
     Names{"n3", "n3"},
     {"'n1'", "'n2 x'", "'n4 -1'", "'n5 9"}},
    {"Slurm", {{"SLURM_NODELIST", "n1"}, {"SLURM_JOB_CPUS_PER_NODE", "2"}}, Names{"n1", "n1"}, {}},
    {"Slurm",
     {{"SLURM_JOB_NODELIST", "n1,n[09-10]"},
      {"SLURM_NODELIST", "x"},
      {"SLURM_TASKS_PER_NODE", "1,2(x2)"}},
     Names{"n1", "n09", "n09", "n10", "n10"},
     {}},
    {"Slurm",
     {{"SLURM_JOB_NODELIST", "n[1-4]"},
      {"SLURM_JOB_CPUS_PER_NODE", "1(x3),2"},
      {"SLURM_CPUS_PER_TASK", "5"}},
     Names{"n1", "n2", "n3", "n4", "n4"},
     {}},
    {"Slurm", {{"SLURM_JOB_NODELIST", "n[1-2]"}}, Names{"n1", "n2"}, {"One worker on each host"}},
    {"Slurm",
     {{"SLURM_JOB_NODELIST", "n[1-2]"}, {"SLURM_JOB_CPUS_PER_NODE", "2"}},
     Names{},
     {"has 2 hosts"}},
    {"Slurm", {{"SLURM_JOB_NODELIST", "n[1-"}}, Names{}, {"SLURM_JOB_NODELIST = 'n[1-'"}},
    {"Slurm",
     {{"SLURM_JOB_NODELIST", "n1"}, {"SLURM_TASKS_PER_NODE", "x"}},
     Names{},
     {"SLURM_TASKS_PER_NODE = 'x'"}},
    {"Slurm",
     {{"SLURM_JOB_NODELIST", "n1"}, {"SLURM_TASKS_PER_NODE", "99999999"}},
     Names{},
     {"too many workers"}},
    {"Slurm", {{"SLURM_CPUS_ON_NODE", "4"}}, {}, {}},
};

TEST(Schedulers, TheHostsOfAJobAreReadFromItsFilesAndVariables) {
  for (std::size_t i = 0; i < kHostsCases.size(); ++i) {
    const HostsCase& c = kHostsCases[i];
    const MadeUpMachine machine(kFiles, c.variables);
    const auto found = hosts_by_method(c.method, machine.get());
    ASSERT_TRUE(found) << c.method;
    EXPECT_EQ(found->hosts, c.hosts) << c.method << " in case " << i;
    ASSERT_EQ(found->warnings.size(), c.warnings.size()) << c.method << " in case " << i;
    for (std::size_t k = 0; k < c.warnings.size(); ++k) {
      EXPECT_THAT(found->warnings[k], HasSubstr(c.warnings[k])) << c.method << " in case " << i;
    }
  }
}

TEST(Schedulers, OtherMethodsAreNotKnown) {
  const MadeUpMachine machine({}, {});
  EXPECT_FALSE(cores_by_method("system", machine.get()));
  EXPECT_FALSE(hosts_by_method("nproc", machine.get()));
}

}  // namespace
}  // namespace nodelay
