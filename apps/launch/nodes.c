/* Nodes: which of them still answer, and the place in their memory from which a run goes on. */
#include "apps/launch/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_SECONDS 10

static bool answers(const char *host, const char *agent)
{
  const pid_t child = fork();
  if (child == 0) {
    const int null = open("/dev/null", O_RDWR);
    for (int stream = 0; null >= 0 && stream < 3; stream++) dup2(null, stream);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execlp(agent, agent, host, "true", (char *)NULL);
    _exit(127);
  }
  if (child < 0) return true; /* nothing is known */
  int status = 0;
  for (const double end = launch_seconds() + ANSWER_SECONDS; waitpid(child, &status, WNOHANG) == 0;) {
    if (launch_seconds() > end) {
      kill(child, SIGKILL);
      waitpid(child, NULL, 0);
      return false;
    }
    nanosleep(&(struct timespec){0, 20000000}, NULL);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int launch_hosts_that_answer(const char *all, const char *agent, char **hosts, int *places)
{
  const size_t room = strlen(all) + 1; /* what is left out makes it shorter */
  char *copy = strdup(all), *rest = copy, *left = malloc(room);
  int lost = 0;
  if (!copy || !left) exit(LAUNCH_NO_COMPLETION);
  left[0] = '\0';
  *places = 0;
  for (char *entry; (entry = strsep(&rest, ","));) {
    if (!*entry) continue;
    char name[256];
    const char *colon = strchr(entry, ':');
    snprintf(name, sizeof name, "%.*s", (int)(colon ? colon - entry : (long)strlen(entry)), entry);
    if (!answers(name, agent ? agent : "ssh")) {
      launch_say("node %s does not answer: going on without it", name);
      lost++;
      continue;
    }
    const size_t used = strlen(left);
    snprintf(left + used, room - used, "%s%s", used ? "," : "", entry);
    *places += colon ? atoi(colon + 1) : 1;
  }
  free(copy);
  *hosts = left;
  return lost;
}

void launch_node_memory_name(char folder[LAUNCH_PATH])
{
  const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
  snprintf(folder, LAUNCH_PATH, "%.900s/gabion-node.%ld.%lld", parent, (long)getpid(), (long long)time(NULL));
}

/* One level of folders, one for each node that shares this machine. */
void launch_node_memory_remove(const char *folder)
{
  DIR *nodes = opendir(folder);
  for (struct dirent *node; nodes && (node = readdir(nodes));) {
    char path[2 * LAUNCH_PATH], file[3 * LAUNCH_PATH];
    if (node->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, node->d_name);
    DIR *files = opendir(path);
    for (struct dirent *entry; files && (entry = readdir(files));) {
      snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
      if (entry->d_name[0] != '.') unlink(file);
    }
    if (files) closedir(files);
    rmdir(path);
  }
  if (nodes) closedir(nodes);
  rmdir(folder);
}
