/* SPDX-License-Identifier: Apache-2.0 */
#include "core/memory/memory.h"

#include "core/memory/memory_pool_impl.h"
#include "core/memory/node_memory_impl.h"
#include "core/memory/shared_memory_impl.h"
#include "core/memory/memory_impl.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Source of a block. */
typedef enum origin { FROM_HEAP, FROM_ARENA, FROM_NODE, SHARED } origin;

/* In the GAB_ALIGNMENT bytes before every allocated block. */
typedef struct header {
  void *raw;
  gab_arena *arena; /* FROM_ARENA */
  size_t bytes;
  uint64_t file; /* FROM_NODE, SHARED */
  uint32_t origin;
  uint32_t use;
  uint32_t magic;
} header;

_Static_assert(sizeof(header) <= GAB_ALIGNMENT, "the header has to fit before the aligned block");
_Static_assert(GAB_NODE_MEMORY_OFFSET == GAB_NODE_MEMORY_STAMP + GAB_ALIGNMENT,
               "a mapping starts on a page, its block a stamp and a header further");
_Static_assert(GAB_SHARED_MEMORY_OFFSET == GAB_ALIGNMENT,
               "a mapping starts on a page, its block behind a header");

enum { OVERHEAD = 2 * GAB_ALIGNMENT, HUGE_FROM = 4 << 20, MAPPED_FROM = 32 << 20 };
static const uint32_t magic_live = 0x9ab10c4bU;

/* The last entry of each is the total of all uses. */
static atomic_size_t held_now[GAB_MEMORY_USE_COUNT + 1];
static atomic_size_t held_peak[GAB_MEMORY_USE_COUNT + 1];

static void raise_peak(atomic_size_t *peak, size_t now)
{
  size_t seen = atomic_load_explicit(peak, memory_order_relaxed);
  while (seen < now && !atomic_compare_exchange_weak(peak, &seen, now)) {}
}

static void count_up(uint32_t use, size_t bytes)
{
  raise_peak(&held_peak[use], atomic_fetch_add(&held_now[use], bytes) + bytes);
  raise_peak(&held_peak[GAB_MEMORY_USE_COUNT],
             atomic_fetch_add(&held_now[GAB_MEMORY_USE_COUNT], bytes) + bytes);
}

static void count_down(uint32_t use, size_t bytes)
{
  atomic_fetch_sub(&held_now[use], bytes);
  atomic_fetch_sub(&held_now[GAB_MEMORY_USE_COUNT], bytes);
}

void gab_memory_count(gab_memory_use use, size_t bytes, bool is_held)
{
  if (is_held) count_up((uint32_t)use, bytes);
  else count_down((uint32_t)use, bytes);
}

static header *header_of(void *memory) { return (header *)(void *)((unsigned char *)memory - GAB_ALIGNMENT); }

/* Requests pages of 2 MB for images, lists and buffers of many megabytes: fewer TLB misses when packing, and fewer pages
 * for the MPI library to look up when it copies between processes. Only for pages entirely inside the block, so no block
 * gets larger. Without effect if the system has none. */
static void ask_for_huge_pages(void *raw, size_t bytes)
{
#ifdef MADV_HUGEPAGE
  const uintptr_t huge_page = (uintptr_t)1 << 21;
  const uintptr_t first = ((uintptr_t)raw + huge_page - 1) / huge_page * huge_page,
                  end = ((uintptr_t)raw + bytes) / huge_page * huge_page;
  if (first < end) (void)madvise((unsigned char *)raw + (first - (uintptr_t)raw), end - first, MADV_HUGEPAGE);
#else
  (void)raw, (void)bytes;
#endif
}

/* Begin of the block in its allocation, after the header. */
static unsigned char *first_block(void *raw)
{
  const uintptr_t first = ((uintptr_t)raw + OVERHEAD - 1) / GAB_ALIGNMENT * GAB_ALIGNMENT;
  return (unsigned char *)raw + (first - (uintptr_t)raw);
}

/* Counts the block and writes its header. @return the block */
static void *begin_block(const header *head)
{
  unsigned char *block = first_block(head->raw);
  *header_of(block) = *head;
  count_up(head->use, head->bytes);
  return block;
}

static gab_status out_of_memory(size_t bytes)
{
  GAB_FAIL(GAB_ERR_MEMORY, "out of memory: %zu bytes wanted, %zu held", bytes,
           gab_memory_now(GAB_MEMORY_USE_COUNT));
}

/* Large zeroed blocks come from calloc untouched, so that each page is placed near the thread that first writes to it:
 * hence not aligned_alloc and memset. */
static gab_status allocate(size_t bytes, gab_memory_use use, bool zeroed, void **memory)
{
  if ((unsigned)use >= GAB_MEMORY_USE_COUNT)
    GAB_FAIL(GAB_ERR_ARGUMENT, "no such use of memory: %d", (int)use);
  header head = {.bytes = bytes, .use = (uint32_t)use, .magic = magic_live, .origin = FROM_HEAP};
  if (use == GAB_MEMORY_SNAPSHOT && gab_node_memory_serves(bytes)) {
    head.origin = FROM_NODE;
    head.raw = gab_node_memory_take(bytes + OVERHEAD, &head.file);
    if (!head.raw)
      GAB_FAIL(GAB_ERR_MEMORY, "out of memory of the node for snapshots: %zu bytes wanted", bytes);
  }
  if (use == GAB_MEMORY_FIELD && gab_pool_serves(bytes))
    head.raw = gab_pool_take(bytes + OVERHEAD, zeroed, &head.arena);
  if (head.arena) head.origin = FROM_ARENA;
  if (!head.raw && bytes <= (size_t)PTRDIFF_MAX - OVERHEAD) {
    head.raw = zeroed ? calloc(1, bytes + OVERHEAD) : malloc(bytes + OVERHEAD);
    if (head.raw && bytes >= HUGE_FROM) ask_for_huge_pages(head.raw, bytes + OVERHEAD);
  }
  if (!head.raw) return out_of_memory(bytes);
  *memory = begin_block(&head);
  return GAB_OK;
}

static void release(void *memory)
{
  header *head = header_of(memory);
  count_down(head->use, head->bytes);
  head->magic = 0;
  switch ((origin)head->origin) {
  case FROM_NODE:
    gab_node_memory_give(head->raw, head->bytes + OVERHEAD, head->file);
    break;
  case FROM_ARENA:
    gab_pool_give(head->arena, head->raw);
    break;
  case SHARED:
    gab_shared_memory_give(head->raw, head->bytes + OVERHEAD, head->file);
    break;
  case FROM_HEAP:
    free(head->raw);
    break;
  }
}

static bool is_ours(void *memory) { return header_of(memory)->magic == magic_live; }

/* The system moves a block page by page if it is a separate mapping: without a copy or a second block. With glibc blocks
 * from 32 MiB on are, unless the heap happens to have that much free in one piece. The threshold below that depends on what
 * was released before: such a block may be in the heap and would be copied, even if its content is not needed. */
static bool moves_by_pages(void *memory, size_t bytes, gab_memory_use use)
{
  const header *head = header_of(memory);
  if (head->origin == SHARED) return head->use == (uint32_t)use && bytes <= (size_t)PTRDIFF_MAX - OVERHEAD;
  if (head->origin != FROM_HEAP || head->use != (uint32_t)use || head->bytes < MAPPED_FROM) return false;
  if (use == GAB_MEMORY_SNAPSHOT && gab_node_memory_serves(bytes)) return false;
  return bytes >= MAPPED_FROM && bytes <= (size_t)PTRDIFF_MAX - OVERHEAD;
}

static gab_status move_by_pages(size_t bytes, void **memory)
{
  header head = *header_of(*memory);
  const size_t old = head.bytes, shift = (size_t)((unsigned char *)*memory - (unsigned char *)head.raw);
  const bool shared = head.origin == SHARED;
  unsigned char *raw = shared
                           ? gab_shared_memory_resize(head.raw, old + OVERHEAD, bytes + OVERHEAD, head.file)
                           : realloc(head.raw, bytes + OVERHEAD);
  if (!raw) return out_of_memory(bytes);
  unsigned char *block = first_block(raw);
  if (block != raw + shift) memmove(block, raw + shift, old < bytes ? old : bytes);
  if (bytes > old && !shared) ask_for_huge_pages(raw, bytes + OVERHEAD);
  head.raw = raw;
  head.bytes = bytes;
  *header_of(block) = head;
  if (bytes > old) count_up(head.use, bytes - old);
  else count_down(head.use, old - bytes);
  *memory = block;
  return GAB_OK;
}

gab_status gab_alloc(size_t bytes, gab_memory_use use, void **memory)
{
  *memory = NULL;
  return allocate(bytes, use, true, memory);
}

gab_status gab_alloc_shared(size_t bytes, gab_memory_use use, void **memory)
{
  *memory = NULL;
  if ((unsigned)use >= GAB_MEMORY_USE_COUNT)
    GAB_FAIL(GAB_ERR_ARGUMENT, "no such use of memory: %d", (int)use);
  if (use == GAB_MEMORY_SNAPSHOT && gab_node_memory_serves(bytes)) return allocate(bytes, use, true, memory);
  header head = {.bytes = bytes, .use = (uint32_t)use, .magic = magic_live, .origin = SHARED};
  if (bytes <= (size_t)PTRDIFF_MAX - OVERHEAD)
    head.raw = gab_shared_memory_take(bytes + OVERHEAD, &head.file);
  if (!head.raw) GAB_FAIL(GAB_ERR_MEMORY, "out of memory that others can see: %zu bytes wanted", bytes);
  *memory = begin_block(&head);
  return GAB_OK;
}

bool gab_shared_key_of(const void *memory, gab_shared_key *key)
{
  const header *head =
      memory ? (const header *)(const void *)((const unsigned char *)memory - GAB_ALIGNMENT) : NULL;
  return head && head->magic == magic_live && head->origin == SHARED &&
         gab_shared_memory_key(head->file, key);
}

gab_status gab_realloc(size_t bytes, gab_memory_use use, void **memory)
{
  void *old = *memory, *grown = NULL;
  if (old && !is_ours(old)) GAB_FAIL(GAB_ERR_ARGUMENT, "memory that does not come from gab_alloc()");
  if (old && moves_by_pages(old, bytes, use)) return move_by_pages(bytes, memory);
  GAB_TRY(allocate(bytes, use, false, &grown));
  if (old) {
    size_t old_bytes = header_of(old)->bytes;
    size_t kept = old_bytes < bytes ? old_bytes : bytes;
    if (kept > 0) memcpy(grown, old, kept);
    release(old);
  }
  *memory = grown;
  return GAB_OK;
}

gab_status gab_realloc_unset(size_t bytes, gab_memory_use use, void **memory)
{
  void *old = *memory;
  if (old && !is_ours(old)) GAB_FAIL(GAB_ERR_ARGUMENT, "memory that does not come from gab_alloc()");
  if (old && moves_by_pages(old, bytes, use)) return move_by_pages(bytes, memory);
  gab_free(memory);
  return allocate(bytes, use, false, memory);
}

static gab_status bytes_of(size_t count, size_t bytes_each, size_t *bytes)
{
  if (bytes_each > 0 && count > SIZE_MAX / bytes_each)
    GAB_FAIL(GAB_ERR_MEMORY, "out of memory: %zu elements of %zu bytes wanted", count, bytes_each);
  *bytes = count * bytes_each;
  return GAB_OK;
}

/* The pointer may be of any object type, so it is read and written as bytes. */
gab_status gab_alloc_elements(size_t count, size_t bytes_each, gab_memory_use use, void *pointer)
{
  void *memory = NULL;
  size_t bytes = 0;
  gab_status status = bytes_of(count, bytes_each, &bytes);
  if (status == GAB_OK) status = gab_alloc(bytes, use, &memory);
  memcpy(pointer, &memory, sizeof memory);
  return status;
}

gab_status gab_realloc_elements(size_t count, size_t bytes_each, gab_memory_use use, void *pointer)
{
  void *memory;
  size_t bytes = 0;
  memcpy(&memory, pointer, sizeof memory);
  GAB_TRY(bytes_of(count, bytes_each, &bytes));
  GAB_TRY(gab_realloc(bytes, use, &memory));
  memcpy(pointer, &memory, sizeof memory);
  return GAB_OK;
}

gab_status gab_list_reserve(void *list, size_t count, size_t bytes_each)
{
  if (count > 0 && (count & (count - 1)) != 0) return GAB_OK;
  return gab_realloc_elements(count == 0 ? 1 : 2 * count, bytes_each, GAB_MEMORY_OTHER, list);
}

void gab_free(void *memory_pointer)
{
  /* The pointer may be of any object type, so it is read and written as bytes. */
  void *memory, *nothing = NULL;
  memcpy(&memory, memory_pointer, sizeof memory);
  if (!memory) return;
  memcpy(memory_pointer, &nothing, sizeof nothing);
  if (is_ours(memory)) release(memory);
}

void gab_memory_hold(bool on) { gab_pool_hold(on); }

size_t gab_memory_now(gab_memory_use use)
{
  return (unsigned)use <= GAB_MEMORY_USE_COUNT ? atomic_load(&held_now[use]) : 0;
}

size_t gab_memory_peak(gab_memory_use use)
{
  return (unsigned)use <= GAB_MEMORY_USE_COUNT ? atomic_load(&held_peak[use]) : 0;
}

void gab_memory_reset_peak(void)
{
  for (int use = 0; use <= GAB_MEMORY_USE_COUNT; use++)
    atomic_store(&held_peak[use], atomic_load(&held_now[use]));
}
