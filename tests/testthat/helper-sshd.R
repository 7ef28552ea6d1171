# SPDX-License-Identifier: MIT
# An ssh server for one test each, on this machine, with keys and settings of its own.

sshd_path <- function() {
  found <- Sys.which(c("sshd", "/usr/sbin/sshd"))
  unname(found[nzchar(found)][1L])
}

# The words that run sshd. As root it wants the folder /run/sshd: it gets one that nobody else sees.
sshd_words <- function() {
  if (Sys.info()[["effective_user"]] != "root" || dir.exists("/run/sshd")) return(sshd_path())
  private <- "mount -t tmpfs none /run && mkdir /run/sshd && exec \"$0\" \"$@\""
  c("unshare", "--mount", "sh", "-c", private, sshd_path())
}

# A folder with key pairs and the settings of a server that lets the owner of one in; of `settings`
# and its own the first counts.
local_sshd_folder <- function(port, settings = character(), frame = parent.frame()) {
  folder <- withr::local_tempdir(.local_envir = frame)
  file <- function(name) file.path(folder, name)
  for (name in c("host_key", "user_key", "other_key")) {
    system2("ssh-keygen", c("-q", "-t", "ed25519", "-N", "''", "-f", file(name)))
  }
  file.copy(file("user_key.pub"), file("authorized_keys"))
  writeLines(c(
    settings, paste("Port", port), "ListenAddress 127.0.0.2", paste("HostKey", file("host_key")), paste("PidFile", file("pid")),
    paste("AuthorizedKeysFile", file("authorized_keys")), "UsePAM no", "StrictModes no", "PasswordAuthentication no",
    "PermitRootLogin prohibit-password", "MaxStartups 100", "MaxSessions 100"
  ), file("config"))
  folder
}

# Its options for ssh; `key` is the name of one of the keys.
ssh_options <- function(folder, port, key = "user_key") {
  c(
    "-F /dev/null", "-p", port, "-i", file.path(folder, key), "-o IdentitiesOnly=yes", "-o IdentityAgent=none",
    "-o StrictHostKeyChecking=no", "-o UserKnownHostsFile=/dev/null", "-o LogLevel=ERROR"
  )
}

# Starts a server on 127.0.0.2; skips the test where there is none. It and all its sessions end with
# the test. Returns its folder, port and pid.
local_sshd <- function(settings = character(), frame = parent.frame()) {
  testthat::skip_if(is.na(sshd_path()) || !nzchar(Sys.which("ssh-keygen")), "no sshd")
  port <- freePort()
  folder <- local_sshd_folder(port, settings, frame)
  log <- file.path(folder, "log")
  words <- c(sshd_words(), "-D", "-f", file.path(folder, "config"), "-E", log)
  pid <- as.integer(system(paste(paste(shQuote(words), collapse = " "), ">/dev/null 2>&1 & echo $!"), intern = TRUE))
  withr::defer(tools::pskill(pid, tools::SIGTERM), envir = frame)
  is_up <- function() !is_running(pid) || file.exists(file.path(folder, "pid"))
  if (!wait_until(is_up) || !is_running(pid)) testthat::skip(paste(c("sshd cannot be started:", lines_of(log)), collapse = " "))
  list(folder = folder, port = port, pid = pid, options = ssh_options(folder, port))
}

# Options for ssh that give every connection a server in a network of its own: what runs there
# reaches this machine by a tunnel or not at all. Skips the test where that cannot be had.
local_far_network <- function(frame = parent.frame()) {
  testthat::skip_if(is.na(sshd_path()) || !nzchar(Sys.which("ssh-keygen")), "no sshd")
  can_unshare <- function(...) system2("unshare", c(...), stdout = FALSE, stderr = FALSE) == 0L
  testthat::skip_if(!can_unshare("--net", "ip", "link", "set", "lo", "up"), "no network namespaces")
  testthat::skip_if("--mount" %in% sshd_words() && !can_unshare("--mount", "true"), "no mount namespaces")
  folder <- local_sshd_folder(22L, frame = frame)
  server <- withr::local_tempfile(.local_envir = frame, lines = c(
    "#!/bin/sh", "ip link set lo up",
    paste("exec", paste(shQuote(c(sshd_words(), "-i", "-f", file.path(folder, "config"), "-E", file.path(folder, "log"))), collapse = " "))
  ))
  c(ssh_options(folder, 22L), "-o", shQuote(paste("ProxyCommand=unshare --net sh", server)))
}
