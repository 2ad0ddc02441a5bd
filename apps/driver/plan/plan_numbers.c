/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a plan. */
#include "apps/driver/plan/plan.h"

#include "core/base/log.h"
#include "resilience/failure_model/failures.h"
#include "resilience/loop/interval.h"
#include "resilience/resilience_config.h"

#include <math.h>
#include <string.h>

enum { ALL = GAB_BALANCE_LEVELS };

/* ---------------------------------------------------------------- per rank */

typedef struct rank_numbers {
  double state, image, held, sent;
  double seen;    /* part of `held`: in the memory of other ranks on its node */
  double spread;  /* sent per snapshot */
  double pieces;  /* of parities, in transit during a snapshot */
  double sharing; /* blocks in shared fields */
  double updates, messages;
  double blocks[GAB_BALANCE_LEVELS + 1];
  int64_t adopted_from;
} rank_numbers;

typedef struct plan_work {
  const gab_app_case *parameters;
  const gab_app_plan *given;
  plan_numbers *numbers;
  gab_proxies *proxies;
  int32_t *plan, *partners;
  rank_numbers *ranks;
  rank_numbers all; /* state, image and sharing blocks, summed over ranks */
  bool wants_flows;
  plan_pairs pairs;
} plan_work;

static gab_status count_contact(void *user, int32_t part, const gab_proxy *proxy, const gab_neighbour *row,
                                int32_t other_part)
{
  plan_work *work = user;
  int own = gab_proxies_level(work->proxies, proxy->id), other = gab_proxies_level(work->proxies, row->id);
  int finer = own > other ? own : other; /* level of the exchanged cells and of the steps */
  if (!work->given->substeps) finer = 0;
  for (int k = 0; k < work->given->exchanges; k++) {
    const double bytes = ldexp(work->given->times[k] * work->given->crossing[k][row->direction], finer);
    if (!(bytes > 0)) continue;
    work->ranks[part].sent += bytes;
    GAB_TRY(gab_app_plan_pairs_note(&work->pairs, &(plan_pair){part, other_part, finer, k}));
    if (work->wants_flows) GAB_TRY(gab_app_flows_put(&work->numbers->flows, part, other_part, bytes));
  }
  return GAB_OK;
}

/* One message for each exchange of a level with a process, in each of its steps. */
static void count_messages(plan_work *work)
{
  gab_app_plan_pairs_settle(&work->pairs);
  for (size_t i = 0; i < work->pairs.count; i++)
    work->ranks[work->pairs.items[i].from].messages +=
        ldexp(work->given->times[work->pairs.items[i].exchange], work->pairs.items[i].level);
}

/* Messages up and down one edge of the tree, of `times` reductions of `bytes` bytes each. */
static gab_status count_edge(plan_work *work, int32_t child, int32_t parent, double bytes, double times)
{
  const int32_t ends[2] = {child, parent};
  for (int k = 0; k < 2; k++) {
    work->ranks[ends[k]].sent += bytes * times;
    work->ranks[ends[k]].messages += times;
    if (work->wants_flows)
      GAB_TRY(gab_app_flows_put(&work->numbers->flows, ends[k], ends[1 - k],
                                (bytes + GAB_ENVELOPE_BYTES) * times));
  }
  return GAB_OK;
}

/* Trees as in core/messages/collective.c: the parent of a place is that without its lowest bit. */
static gab_status count_reductions(plan_work *work)
{
  for (int k = 0; k < work->given->reductions; k++)
    for (int32_t place = 1; place < work->numbers->ranks; place++)
      GAB_TRY(count_edge(work, place, place & (place - 1), work->given->reduced[k],
                         work->given->reduced_times[k]));
  return GAB_OK;
}

static double state_of(const gab_app_plan *given, double own, double sharing)
{
  return own + (given->places > 0 ? ceil(sharing / given->places) * given->shared_state : 0);
}

static gab_app_plan_block block_of(const gab_app_plan *given, const gab_proxy *proxy)
{
  if (given->block_of) return given->block_of(given, proxy);
  gab_app_plan_block block = given->block;
  if (given->substeps) block.updates = ldexp(block.updates, gab_proxies_level(given->proxies, proxy->id));
  return block;
}

static void add_blocks(plan_work *work)
{
  for (size_t i = 0; i < gab_proxies_count(work->proxies); i++) {
    rank_numbers *rank = &work->ranks[work->plan[i]];
    const gab_proxy *proxy = gab_proxies_get(work->proxies, i);
    const gab_app_plan_block block = block_of(work->given, proxy);
    rank->state += block.state;
    rank->image += block.image;
    rank->sharing += block.shares;
    rank->updates += block.updates;
    rank->blocks[gab_proxies_level(work->proxies, proxy->id)]++;
    rank->blocks[ALL]++;
  }
  for (int32_t p = 0; p < work->numbers->ranks; p++) {
    rank_numbers *rank = &work->ranks[p];
    work->all.state += rank->state;
    work->all.image += rank->image;
    work->all.sharing += rank->sharing;
    rank->state = work->given->process_state + state_of(work->given, rank->state, rank->sharing);
    if (rank->updates > work->numbers->updates) work->numbers->updates = rank->updates;
  }
}

/* Pieces have the length of those of the longest image of the group. */
static void hold_parities(plan_work *work, gab_rank rank)
{
  gab_group group;
  double longest = 0;
  if (!gab_placement_group(&work->numbers->placement, rank, &group) || group.parities == 0) return;
  for (int i = 0; i < group.count; i++)
    if (work->ranks[group.ranks[i]].image > longest) longest = work->ranks[group.ranks[i]].image;
  work->ranks[rank].held += longest * group.parities / gab_group_pieces(&group);
  work->ranks[rank].pieces = (double)gab_group_messages(&group, (size_t)(longest / gab_group_pieces(&group)));
  work->ranks[rank].spread += longest * group.parities;
}

static void hold_copies(plan_work *work)
{
  const plan_numbers *numbers = work->numbers;
  const int copies = gab_placement_copies(&numbers->placement);
  for (int32_t p = 0; p < numbers->ranks; p++) {
    for (int copy = 0; copy < copies; copy++) {
      gab_rank holder = gab_placement_holder(&numbers->placement, p, copy);
      if (holder == GAB_NO_RANK) continue;
      const bool seen = numbers->shares && numbers->domains &&
                        gab_domains_together(numbers->domains, GAB_DOMAIN_NODE, p, holder);
      work->ranks[holder].held += work->ranks[p].image;
      if (seen) work->ranks[holder].seen += work->ranks[p].image;
      else work->ranks[p].spread += work->ranks[p].image;
    }
    hold_parities(work, p);
  }
}

/* ---------------------------------------------------------------- over all ranks */

static void spread_begin(plan_spread *spread) { *spread = (plan_spread){1e300, 0, 0}; }

static void spread_add(plan_spread *spread, double value, int32_t ranks)
{
  if (value < spread->least) spread->least = value;
  if (value > spread->most) spread->most = value;
  spread->mean += value / ranks;
}

/* Memory without faults: the state, snapshots of the own image and of stored ones, and temporary memory of taking them. */
static double memory_of(const plan_numbers *numbers, const rank_numbers *rank)
{
  return rank->state + numbers->buffers * (rank->image + rank->held - rank->seen) + rank->pieces;
}

static void spread_out(plan_work *work)
{
  plan_numbers *numbers = work->numbers;
  for (int l = 0; l <= ALL; l++) spread_begin(&numbers->blocks[l]);
  spread_begin(&numbers->state);
  spread_begin(&numbers->memory);
  spread_begin(&numbers->sent);
  spread_begin(&numbers->partners);
  spread_begin(&numbers->messages);
  spread_begin(&numbers->held);
  spread_begin(&numbers->seen);
  spread_begin(&numbers->network);
  for (int32_t p = 0; p < numbers->ranks; p++) {
    const rank_numbers *rank = &work->ranks[p];
    for (int l = 0; l <= ALL; l++) spread_add(&numbers->blocks[l], rank->blocks[l], numbers->ranks);
    spread_add(&numbers->state, rank->state, numbers->ranks);
    spread_add(&numbers->memory, memory_of(numbers, rank), numbers->ranks);
    spread_add(&numbers->sent, rank->sent, numbers->ranks);
    spread_add(&numbers->held, rank->held, numbers->ranks);
    spread_add(&numbers->seen, rank->seen, numbers->ranks);
    spread_add(&numbers->network, rank->spread, numbers->ranks);
    spread_add(&numbers->partners, work->partners[p], numbers->ranks);
    spread_add(&numbers->messages, rank->messages, numbers->ranks);
    if (rank->image > numbers->image) numbers->image = rank->image;
  }
}

/* If a rank dies, its restorer adopts its blocks, and packs them with its own into the next snapshot before rebalancing. In
 * coded groups the parities of all members grow with that image. */
static gab_status find_peak(plan_work *work)
{
  plan_numbers *numbers = work->numbers;
  gab_members now;
  for (gab_rank dead = 0; dead < numbers->ranks; dead++) {
    gab_members_init(&now, numbers->ranks);
    GAB_TRY(gab_members_remove(&now, dead));
    gab_rank restorer = gab_placement_restorer(&numbers->placement, &now, dead);
    gab_members_release(&now);
    if (restorer == GAB_NO_RANK) {
      numbers->peak = 0;
      return GAB_OK;
    }
    const rank_numbers *gone = &work->ranks[dead];
    double peak = memory_of(numbers, &work->ranks[restorer]) + gone->state + gone->image;
    gab_group group;
    if (gab_placement_group(&numbers->placement, dead, &group))
      peak += gone->image * group.parities / gab_group_pieces(&group);
    if (peak > numbers->peak) numbers->peak = peak;
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- with how few it would do */

/* Memory of the fullest of `processes` processes if blocks are distributed evenly; at_peak: during recovery from a death. */
static gab_status memory_on(const plan_work *work, int32_t processes, bool at_peak, double *memory)
{
  const plan_numbers *numbers = work->numbers;
  const double blocks = (double)numbers->balance.blocks;
  const double share = ceil(blocks / processes) / blocks, image = share * work->all.image;
  const double state =
      work->given->process_state + state_of(work->given, share * work->all.state, share * work->all.sharing);
  gab_members all;
  gab_placement placement;
  gab_members_init(&all, processes);
  gab_placement_init(&placement);
  gab_status status = gab_placement_make(&placement, &numbers->redundancy, &all, NULL);
  if (status == GAB_OK) {
    double kept = gab_placement_get_costs(&placement, image).kept;
    *memory = state + gab_resilience_buffers(work->parameters->config, &placement) * (image + kept);
    if (at_peak) *memory += state + image + (placement.scheme->kind == GAB_SCHEME_GROUPS ? kept : 0);
  }
  gab_placement_release(&placement);
  gab_members_release(&all);
  return status;
}

/* The minimum number of processes; 0: none. Fewer processes have more memory each. */
static gab_status find_fewest(const plan_work *work, double capacity, bool at_peak, int32_t *fewest)
{
  uint64_t blocks = work->numbers->balance.blocks;
  int32_t lo = at_peak ? 2 : 1, hi = blocks < INT32_MAX ? (int32_t)blocks : INT32_MAX;
  double memory = 0;
  *fewest = 0;
  if (hi < lo) return GAB_OK;
  GAB_TRY(memory_on(work, hi, at_peak, &memory));
  if (memory > capacity) return GAB_OK;
  while (lo < hi) {
    int32_t mid = lo + (hi - lo) / 2;
    GAB_TRY(memory_on(work, mid, at_peak, &memory));
    if (memory > capacity) lo = mid + 1;
    else hi = mid;
  }
  *fewest = hi;
  return GAB_OK;
}

/* ---------------------------------------------------------------- costs */

/* Bytes per second that one process copies here, best of a few. */
static gab_status measure_bandwidth(double *bandwidth)
{
  const size_t bytes = (size_t)32 << 20;
  void *from, *to = NULL;
  GAB_TRY(gab_alloc(bytes, GAB_MEMORY_OTHER, &from));
  gab_status status = gab_alloc(bytes, GAB_MEMORY_OTHER, &to);
  for (int k = 0; k < 6 && status == GAB_OK; k++) {
    memset(from, k, bytes);
    double start = gab_seconds();
    memcpy(to, from, bytes);
    double seconds = gab_seconds() - start;
    if (seconds > 0 && (double)bytes / seconds > *bandwidth && ((char *)to)[k] == (char)k)
      *bandwidth = (double)bytes / seconds;
  }
  gab_free(&from);
  gab_free(&to);
  return status;
}

/* MTBF of the whole run, from given values of the run or of its parts. */
static gab_status find_mtbf(const gab_app_case *which, const plan_options *options, plan_numbers *numbers)
{
  numbers->mtbf = options->mtbf;
  if (options->mtbf_process > 0) numbers->mtbf = gab_mtbf_of_all(options->mtbf_process, numbers->ranks);
  if (options->mtbf_node > 0) {
    if (!numbers->domains)
      GAB_FAIL(GAB_ERR_INPUT,
               "--mtbf-node: which processes share a node say --per-node or resilience.domains");
    numbers->mtbf =
        gab_mtbf_of_all(options->mtbf_node, gab_domains_number(numbers->domains, GAB_DOMAIN_NODE));
  }
  if (!(numbers->mtbf > 0) && gab_config_is_set(which->config, "resilience.mtbf"))
    numbers->mtbf = gab_config_real(which->config, "resilience.mtbf");
  return GAB_OK;
}

/* Each image is packed once, and passes the same bandwidth again for each copy sent and received. */
static gab_status find_costs(plan_work *work, const plan_options *options)
{
  plan_numbers *numbers = work->numbers;
  numbers->bandwidth = options->bandwidth;
  numbers->is_measured = !(options->bandwidth > 0);
  if (numbers->is_measured) GAB_TRY(measure_bandwidth(&numbers->bandwidth));
  numbers->cost = (numbers->image + 2 * numbers->network.most) / numbers->bandwidth;
  GAB_TRY(find_mtbf(work->parameters, options, numbers));
  if (numbers->mtbf > 0) numbers->interval = gab_interval_young(numbers->mtbf, numbers->cost);
  if (options->rate > 0) numbers->step_seconds = numbers->updates / options->rate;
  return GAB_OK;
}

/* ---------------------------------------------------------------- main */

/* Number of nodes from the command line or the file of the case; else every process is a domain. */
static gab_status lay_out(const plan_options *options, plan_numbers *numbers)
{
  const char *file = numbers->redundancy.domains_file;
  gab_members all;
  gab_placement_init(&numbers->placement);
  if (options->per_node > 0)
    GAB_TRY(gab_domains_regular(numbers->ranks, (int32_t)options->per_node, (int32_t)options->per_island,
                                &numbers->domains));
  else if (file && file[0]) GAB_TRY(gab_domains_load(file, numbers->ranks, 0, &numbers->domains));
  gab_members_init(&all, numbers->ranks);
  gab_status status = gab_placement_make(&numbers->placement, &numbers->redundancy, &all, numbers->domains);
  gab_members_release(&all);
  return status == GAB_ERR_ARGUMENT ? GAB_ERR_INPUT : status;
}

static void count_spares(const gab_app_case *which, const plan_options *options, plan_numbers *numbers)
{
  numbers->spares = gab_resilience_spares(which->config);
  const int64_t nodes = !numbers->spares.per_node ? 1
                        : options->per_node > 0 ? (numbers->ranks + options->per_node - 1) / options->per_node
                                                : 0;
  if (nodes > 0 || numbers->spares.count == 0)
    numbers->all_processes = numbers->ranks + numbers->spares.count * (int32_t)nodes;
}

static gab_status choose(const gab_app_case *which, const plan_options *options, plan_numbers *numbers)
{
  const gab_config *config = which->config;
  numbers->strategy = options->strategy ? gab_balancer_by_name(options->strategy) : which->balance.balancer;
  if (!numbers->strategy) return GAB_ERR_INPUT;
  count_spares(which, options, numbers);
  numbers->wants_local =
      gab_resilience_logs(config, &numbers->log_limit, &numbers->logs_less, &numbers->own_every);
  numbers->logs = numbers->wants_local && !which->solver->own_comms;
  GAB_TRY(gab_resilience_redundancy(config, &numbers->redundancy));
  if (options->scheme) numbers->redundancy.scheme = gab_scheme_by_name(options->scheme);
  if (!numbers->redundancy.scheme) return GAB_ERR_INPUT;
  if (options->copies == 0) numbers->redundancy.scheme = &gab_scheme_none;
  if (options->copies > 0) numbers->redundancy.copies = (int)options->copies;
  if (options->group > 0) numbers->redundancy.group = (int)options->group;
  if (options->losses > 0) numbers->redundancy.losses = (int)options->losses;
  GAB_TRY(lay_out(options, numbers));
  numbers->buffers = gab_resilience_buffers(config, &numbers->placement);
  numbers->shares = gab_resilience_shares(config);
  return GAB_OK;
}

static gab_status distribute(plan_work *work)
{
  plan_numbers *numbers = work->numbers;
  gab_balance_options options = {.balancer = numbers->strategy,
                                 .by = work->parameters->balance.by,
                                 .plan = work->plan,
                                 .parts = numbers->ranks,
                                 .none_empty = true};
  return gab_balance_proxies(work->proxies, &options, &numbers->balance);
}

static gab_status work_out(plan_work *work, const plan_options *options)
{
  GAB_TRY(distribute(work));
  add_blocks(work);
  hold_copies(work);
  GAB_TRY(gab_balance_contacts(work->proxies, work->plan, work->numbers->ranks, work->partners, count_contact,
                               work));
  count_messages(work);
  GAB_TRY(count_reductions(work));
  spread_out(work);
  GAB_TRY(find_peak(work));
  if (work->wants_flows) GAB_TRY(gab_app_plan_flows_settle(&work->numbers->flows, &work->pairs, work->given));
  if (work->wants_flows)
    GAB_TRY(gab_app_plan_clusters_find(options, &work->numbers->flows, work->numbers->domains,
                                       &work->numbers->clusters));
  if (options->memory > 0) {
    GAB_TRY(find_fewest(work, options->memory, false, &work->numbers->fewest));
    GAB_TRY(find_fewest(work, options->memory, true, &work->numbers->fewest_at_peak));
  }
  return find_costs(work, options);
}

gab_status gab_app_plan_work_out(const gab_app_case *which, const gab_app_plan *given,
                                 const plan_options *options, plan_numbers *numbers)
{
  gab_proxies *proxies = given->proxies;
  int32_t *plan = NULL, *partners = NULL;
  rank_numbers *ranks = NULL;
  numbers->ranks = given->ranks;
  GAB_TRY(choose(which, options, numbers));
  size_t count = (size_t)numbers->ranks;
  gab_status status = GAB_NEW_ARRAY(&plan, gab_proxies_count(proxies), GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&partners, count, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&ranks, count, GAB_MEMORY_OTHER);
  plan_work work = {.parameters = which,
                    .given = given,
                    .numbers = numbers,
                    .proxies = proxies,
                    .plan = plan,
                    .partners = partners,
                    .ranks = ranks,
                    .wants_flows = options->clusters};
  numbers->flows.ranks = numbers->ranks;
  numbers->fields = given->fields;
  numbers->adapts_every = given->adapts_every;
  if (status == GAB_OK) status = work_out(&work, options);
  numbers->memory_given = options->memory;
  numbers->proxy_bytes = gab_proxies_bytes(proxies);
  gab_free(&plan);
  gab_free(&partners);
  gab_free(&ranks);
  gab_free(&work.pairs.items);
  return status;
}

void gab_app_plan_release(plan_numbers *numbers)
{
  gab_placement_release(&numbers->placement);
  gab_domains_destroy(&numbers->domains);
  gab_app_flows_release(&numbers->flows);
}
