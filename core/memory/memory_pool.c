/* SPDX-License-Identifier: Apache-2.0 */
#include "core/memory/memory_pool_impl.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Address sanitizers see the bounds of malloc, but not those of pieces in an arena. */
#if defined(__SANITIZE_ADDRESS__)
#define POOLING 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POOLING 0
#endif
#endif
#if !defined(POOLING) && defined(MADV_HUGEPAGE) && defined(MAP_ANONYMOUS)
#define POOLING 1
#endif

#if POOLING

enum { LINE = 64, MOST_PIECES = 512 };
static const size_t huge_page = (size_t)1 << 21, least_piece = (size_t)32 << 10,
                    most_piece = (size_t)16 << 20, usual_arena = (size_t)32 << 20;

/* Contents of a piece. */
typedef enum piece_state { PIECE_FRESH = 0, PIECE_USED, PIECE_DIRTY } piece_state;

struct gab_arena {
  gab_arena *next, **place; /* list of all arenas; place: the pointer to this one */
  unsigned char *memory;
  size_t bytes, piece_bytes, pieces, used;
  unsigned char state[MOST_PIECES];
};

static gab_arena *arenas;
static size_t in_use, idle; /* bytes of pieces; bytes of idle ones that were not returned to the system */
static int holds;           /* nothing is returned to the system while there are any */
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void lock(void)
{
  while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) {}
}
static void unlock(void) { atomic_flag_clear_explicit(&busy, memory_order_release); }

static size_t piece_bytes_of(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

bool gab_pool_serves(size_t bytes) { return least_piece <= bytes && bytes <= most_piece; }

/* Whole huge pages at an aligned address: maps more, and unmaps the ends. */
static unsigned char *map_huge(size_t bytes)
{
  unsigned char *raw =
      mmap(NULL, bytes + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return NULL;
  size_t before = (huge_page - (uintptr_t)raw % huge_page) % huge_page;
  if (before > 0) munmap(raw, before);
  if (before < huge_page) munmap(raw + before + bytes, huge_page - before);
  (void)madvise(raw + before, bytes, MADV_HUGEPAGE); /* a system without huge pages ignores it */
  return raw + before;
}

static gab_arena *make_arena(size_t piece_bytes)
{
  gab_arena *arena = calloc(1, sizeof *arena);
  if (!arena) return NULL;
  size_t pieces = usual_arena / piece_bytes;
  arena->pieces = pieces > MOST_PIECES ? MOST_PIECES : pieces;
  arena->piece_bytes = piece_bytes;
  arena->bytes = (arena->pieces * piece_bytes + huge_page - 1) / huge_page * huge_page;
  arena->memory = map_huge(arena->bytes);
  if (!arena->memory) {
    free(arena);
    return NULL;
  }
  arena->place = &arenas;
  arena->next = arenas;
  if (arenas) arenas->place = &arena->next;
  arenas = arena;
  return arena;
}

static void drop_arena(gab_arena *arena)
{
  *arena->place = arena->next;
  if (arena->next) arena->next->place = arena->place;
  munmap(arena->memory, arena->bytes);
  free(arena);
}

void *gab_pool_take(size_t bytes, bool zeroed, gab_arena **arena_out)
{
  const size_t piece_bytes = piece_bytes_of(bytes);
  void *memory = NULL;
  bool dirty = false;
  lock();
  gab_arena *arena = arenas;
  while (arena && (arena->piece_bytes != piece_bytes || arena->used == arena->pieces)) arena = arena->next;
  if (!arena) arena = make_arena(piece_bytes);
  if (arena) {
    size_t piece = 0;
    while (arena->state[piece] == PIECE_USED) piece++;
    dirty = arena->state[piece] == PIECE_DIRTY;
    arena->state[piece] = PIECE_USED;
    in_use += piece_bytes;
    if (dirty) idle -= piece_bytes;
    arena->used++;
    memory = arena->memory + piece * piece_bytes;
  }
  unlock();
  if (dirty && zeroed) memset(memory, 0, piece_bytes);
  *arena_out = arena;
  return memory;
}

/* Returns the whole pages of a piece to the system, and clears the rest. */
static void give_pages_back(gab_arena *arena, size_t piece)
{
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = arena->piece_bytes;
  unsigned char *first = arena->memory + piece * bytes, *end = first + bytes;
  size_t before = (page - (uintptr_t)first % page) % page, after = (uintptr_t)end % page;
  arena->state[piece] = PIECE_FRESH;
  if (before + after >= bytes || madvise(first + before, bytes - before - after, MADV_DONTNEED) != 0) {
    memset(first, 0, bytes);
    return;
  }
  memset(first, 0, before);
  memset(end - after, 0, after);
}

/* Returns all idle pieces to the system. */
static void trim(void)
{
  for (gab_arena *arena = arenas, *next; arena; arena = next) {
    next = arena->next;
    if (arena->used == 0) drop_arena(arena);
    else
      for (size_t piece = 0; piece < arena->pieces; piece++)
        if (arena->state[piece] == PIECE_DIRTY) give_pages_back(arena, piece);
  }
  idle = 0;
}

void gab_pool_give(gab_arena *arena, void *memory)
{
  lock();
  arena->state[(size_t)((unsigned char *)memory - arena->memory) / arena->piece_bytes] = PIECE_DIRTY;
  arena->used--;
  in_use -= arena->piece_bytes;
  idle += arena->piece_bytes;
  if (holds == 0 && idle > in_use) trim();
  unlock();
}

void gab_pool_hold(bool on)
{
  lock();
  holds += on ? 1 : -1;
  if (holds == 0 && idle > in_use) trim();
  unlock();
}

#else

bool gab_pool_serves(size_t bytes)
{
  (void)bytes;
  return false;
}

void *gab_pool_take(size_t bytes, bool zeroed, gab_arena **arena)
{
  (void)bytes;
  (void)zeroed;
  *arena = NULL;
  return NULL;
}

void gab_pool_give(gab_arena *arena, void *memory)
{
  (void)arena;
  (void)memory;
}

void gab_pool_hold(bool on) { (void)on; }

#endif
