/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on all nodes at once by the agent; detection of nodes that do not answer. */
#include "apps/launch/launch.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_SECONDS 10
#define AT_ONCE        64 /* concurrent commands */

const char *launch_own_path(void)
{
  static char path[LAUNCH_PATH];
  const ssize_t got = readlink("/proc/self/exe", path, sizeof path - 1);
  path[got > 0 ? got : 0] = '\0';
  return path;
}

/* Quotes a word, if necessary, for the shell to which most agents pass the command. */
static char *quoted(const char *word)
{
  bool plain = *word != '\0';
  for (const char *at = word; *at; at++)
    plain = plain && (isalnum((unsigned char)*at) || strchr("/._-+=,:@%", *at));
  char *made = malloc(4 * strlen(word) + 3), *to = made;
  if (!made) exit(LAUNCH_NO_COMPLETION);
  if (plain) return strcpy(made, word);
  *to++ = '\'';
  for (const char *at = word; *at; at++)
    if (*at == '\'') to = (char *)memcpy(to, "'\\''", 4) + 4;
    else *to++ = *at;
  strcpy(to, "'");
  return made;
}

static int parse_hosts(const char *hosts, launch_call **calls)
{
  char *copy = strdup(hosts), *rest = copy;
  int count = 0, capacity = 1;
  for (const char *at = hosts; *at; at++) capacity += *at == ',';
  launch_call *list = calloc((size_t)capacity, sizeof *list);
  if (!copy || !list) exit(LAUNCH_NO_COMPLETION);
  for (char *entry; (entry = strsep(&rest, ","));) {
    if (!*entry) continue;
    const char *colon = strchr(entry, ':');
    const int length = (int)(colon ? colon - entry : (long)strlen(entry));
    snprintf(list[count].host, sizeof list[count].host, "%.*s", length, entry);
    list[count++].places = colon ? atoi(colon + 1) : 1;
  }
  free(copy);
  *calls = list;
  return count;
}

/* Agents treat a word that begins with `-' as an option, and ssh may pass a host name to a shell (ProxyCommand, %h). */
static bool is_host_name(const char *name)
{
  if (name[0] == '\0' || name[0] == '-') return false;
  for (const char *at = name; *at; at++)
    if (!isalnum((unsigned char)*at) && (unsigned char)*at < 128 && !strchr("._-@%+[]", *at)) return false;
  return true;
}

bool launch_hosts_are_sound(const char *hosts)
{
  launch_call *calls;
  const int count = parse_hosts(hosts, &calls);
  bool sound = count > 0;
  if (!sound) launch_say("--hosts `%s': no host in it (see --help)", hosts);
  for (int i = 0; i < count && sound; i++) {
    sound = is_host_name(calls[i].host);
    if (!sound)
      launch_say(
          "--hosts: `%s' is not a host name: letters, digits and . _ - @ %% + [ ], and no `-' in front",
          calls[i].host);
  }
  launch_calls_free(calls, count);
  return sound;
}

/* ssh ends its options at `--'; for other agents this is unknown. */
static bool takes_end_of_options(const char *agent)
{
  const char *name = strrchr(agent, '/');
  return strcmp(name ? name + 1 : agent, "ssh") == 0;
}

/* In the child. */
static void become_agent(const char *agent, const char *host, const char *const words[], FILE *input,
                         FILE *output)
{
  enum { MOST_WORDS = 16 };
  const char *command[MOST_WORDS + 4] = {agent};
  int count = 1;
  if (takes_end_of_options(agent)) command[count++] = "--";
  command[count++] = host;
  for (int i = 0; i < MOST_WORDS && words[i]; i++) command[count++] = quoted(words[i]);
  const int null = open("/dev/null", O_RDWR);
  rewind(input);
  dup2(fileno(input), STDIN_FILENO);
  dup2(fileno(output), STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execvp(agent, (char **)(uintptr_t)command);
  _exit(127);
}

/* A separate file per call, since calls would share the position in one file. */
static FILE *file_with(const char *text)
{
  FILE *file = tmpfile();
  if (!file) return NULL;
  fputs(text, file);
  fflush(file);
  return file;
}

static void start(launch_call *call, const char *agent, const char *const words[], const char *input)
{
  FILE *in = file_with(input);
  call->output = tmpfile();
  call->code = -1;
  call->until = launch_seconds() + ANSWER_SECONDS;
  fflush(NULL);
  call->pid = in && call->output ? fork() : -1;
  if (call->pid == 0) become_agent(agent, call->host, words, in, call->output);
  if (in) fclose(in);
}

static void finish(launch_call *call)
{
  call->said = calloc(1, LAUNCH_SAID);
  if (!call->said) exit(LAUNCH_NO_COMPLETION);
  if (call->output) {
    rewind(call->output);
    call->said[fread(call->said, 1, LAUNCH_SAID - 1, call->output)] = '\0';
    fclose(call->output);
  }
  call->output = NULL;
  call->pid = 0;
}

/* @return true after it has ended, by itself or at its time limit */
static bool has_ended(launch_call *call)
{
  int status = 0;
  const bool gone = call->pid > 0 && waitpid(call->pid, &status, WNOHANG) == call->pid;
  if (gone && WIFEXITED(status)) call->code = WEXITSTATUS(status);
  if (!gone && call->pid > 0 && launch_seconds() <= call->until) return false;
  if (!gone && call->pid > 0) {
    kill(call->pid, SIGKILL);
    waitpid(call->pid, NULL, 0);
  }
  finish(call);
  return true;
}

int launch_call_hosts(const char *hosts, const char *agent, const char *const words[], const char *input,
                      launch_call **calls)
{
  const int count = parse_hosts(hosts, calls);
  int next = 0, under_way = 0, ended = 0;
  while (ended < count) {
    for (; next < count && under_way < AT_ONCE; next++, under_way++)
      start(&(*calls)[next], agent ? agent : "ssh", words, input);
    for (int i = 0; i < next; i++)
      if (!(*calls)[i].said && has_ended(&(*calls)[i])) under_way--, ended++;
    if (ended < count) nanosleep(&(struct timespec){0, 10000000}, NULL);
  }
  return count;
}

void launch_calls_free(launch_call *calls, int count)
{
  for (int i = 0; i < count; i++) free(calls[i].said);
  free(calls);
}

int launch_hosts_that_answer(const char *all, const char *agent, char **hosts, int *places)
{
  int lost = 0;
  launch_call *calls;
  const char *words[] = {"true", NULL};
  const int count = launch_call_hosts(all, agent, words, "", &calls);
  const size_t capacity = strlen(all) + 16 * (size_t)count + 1; /* each may get a number of places */
  char *left = malloc(capacity);
  if (!left) exit(LAUNCH_NO_COMPLETION);
  left[0] = '\0';
  *places = 0;
  for (int i = 0; i < count; i++) {
    if (calls[i].code != 0) {
      launch_say("node %s does not answer: continuing without it", calls[i].host);
      lost++;
      continue;
    }
    const size_t used = strlen(left);
    snprintf(left + used, capacity - used, "%s%s:%d", used ? "," : "", calls[i].host, calls[i].places);
    *places += calls[i].places;
  }
  launch_calls_free(calls, count);
  *hosts = left;
  return lost;
}

void launch_introduce(void)
{
  uint64_t chance = 0;
  char text[320], host[256] = "";
  if (getrandom(&chance, sizeof chance, 0) != sizeof chance)
    chance = (uint64_t)time(NULL) << 24 ^ (uint64_t)getpid();
  snprintf(text, sizeof text, "%016" PRIx64, chance);
  setenv("GABION_LAUNCH_ID", text, 1);
  gethostname(host, sizeof host - 1);
  snprintf(text, sizeof text, "%ld %s", (long)getpid(), host);
  setenv("GABION_LAUNCHER", text, 1);
}
