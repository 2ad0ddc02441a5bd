/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of compiled programs. Whatever goes wrong here costs time: the program is compiled. */
#include "core/device/device_impl.h"

#include "core/base/hash.h"
#include "core/system/own_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_CAPACITY = 2048, NAME_CAPACITY = 96, HEAD_BYTES = 24 };
static const uint64_t magic = 0x316b62612d627567; /* "gub-abk1" */
static const size_t most_bytes = (size_t)256 << 20;

/* The folder that the programs' one is in. */
static bool name_folder(char path[PATH_CAPACITY])
{
  const char *of_gabion = getenv("GABION_CACHE"), *of_user = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length = -1;
  if (of_gabion && *of_gabion) length = snprintf(path, PATH_CAPACITY, "%s", of_gabion);
  else if (of_user && *of_user) length = snprintf(path, PATH_CAPACITY, "%s/gabion", of_user);
  else if (home && *home) length = snprintf(path, PATH_CAPACITY, "%s/.cache/gabion", home);
  return length > 0 && length < PATH_CAPACITY - 16;
}

/* Makes a folder and those above it. */
static void make_folders(char *path)
{
  for (char *at = path + 1; *at; at++)
    if (*at == '/') {
      *at = '\0';
      mkdir(path, 0700);
      *at = '/';
    }
  mkdir(path, 0700);
}

/* @return a descriptor, -1 if there is none */
static int open_folder(bool make)
{
  char path[PATH_CAPACITY], why[GAB_OWN_WHY];
  if (!name_folder(path)) return -1;
  if (make) make_folders(path);
  const int above = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (above < 0) return -1;
  const int folder = gab_own_folder_open(above, "kernels", make, why);
  close(above);
  return folder;
}

static bool read_all(int file, unsigned char *bytes, size_t count)
{
  while (count > 0) {
    const ssize_t some = read(file, bytes, count);
    if (some <= 0) return false;
    bytes += some;
    count -= (size_t)some;
  }
  return true;
}

static bool read_file(int file, uint64_t key, gab_buffer *binary)
{
  struct stat about;
  unsigned char head[HEAD_BYTES];
  void *place = NULL;
  uint64_t found[3];
  if (fstat(file, &about) != 0 || about.st_size <= HEAD_BYTES || (size_t)about.st_size > most_bytes)
    return false;
  const size_t bytes = (size_t)about.st_size - HEAD_BYTES;
  if (!read_all(file, head, HEAD_BYTES)) return false;
  gab_reader reader = gab_reader_of(head, HEAD_BYTES);
  for (int i = 0; i < 3; i++)
    if (gab_get_u64(&reader, &found[i]) != GAB_OK) return false;
  return found[0] == magic && found[1] == key && gab_buffer_extend(binary, bytes, &place) == GAB_OK &&
         read_all(file, place, bytes) && gab_hash64(place, bytes, key) == found[2];
}

bool gab_device_cache_read(uint64_t key, gab_buffer *binary)
{
  char name[NAME_CAPACITY], why[GAB_OWN_WHY];
  const int folder = open_folder(false);
  if (folder < 0) return false;
  snprintf(name, sizeof name, "%016" PRIx64 ".bin", key);
  const int file = gab_own_file_open(folder, name, O_RDONLY, why);
  close(folder);
  if (file < 0) return false;
  const bool is_whole = read_file(file, key, binary);
  close(file);
  if (!is_whole) gab_buffer_clear(binary);
  return is_whole;
}

static bool write_all(int file, const unsigned char *bytes, size_t count)
{
  while (count > 0) {
    const ssize_t some = write(file, bytes, count);
    if (some <= 0) return false;
    bytes += some;
    count -= (size_t)some;
  }
  return true;
}

void gab_device_cache_write(uint64_t key, const gab_buffer *binary)
{
  char name[NAME_CAPACITY], fresh[NAME_CAPACITY], why[GAB_OWN_WHY];
  struct timespec now = {0};
  gab_buffer head = {0};
  const int folder = open_folder(true);
  if (folder < 0) return;
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(name, sizeof name, "%016" PRIx64 ".bin", key);
  snprintf(fresh, sizeof fresh, "%016" PRIx64 ".%ld.%ld.new", key, (long)getpid(), now.tv_nsec);
  const int file = gab_own_file_open(folder, fresh, O_WRONLY | O_CREAT | O_EXCL, why);
  if (file >= 0) {
    const bool is_written = gab_put_u64(&head, magic) == GAB_OK && gab_put_u64(&head, key) == GAB_OK &&
                            gab_put_u64(&head, gab_hash64(binary->data, binary->size, key)) == GAB_OK &&
                            write_all(file, head.data, head.size) &&
                            write_all(file, binary->data, binary->size);
    if (close(file) != 0 || !is_written || renameat(folder, fresh, folder, name) != 0)
      unlinkat(folder, fresh, 0);
  }
  gab_buffer_release(&head);
  close(folder);
}
