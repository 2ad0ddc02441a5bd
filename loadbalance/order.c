#include "loadbalance/order_impl.h"

void gab_order_init(gab_order *order, const gab_root_grid *grid, const gab_curve *curve)
{
  *order = (gab_order){.curve = curve, .grid = *grid, .places = 1};
  for (int axis = 0; axis < grid->dimension; ++axis) {
    while ((1LL << order->bits) < grid->roots[axis]) ++order->bits;
    order->places *= (uint64_t)grid->roots[axis];
  }
  order->depth = gab_root_grid_max_level(grid);
}

/* How many places of the grid lie in a cube of the curve: `position` on the curve with `bits` per direction.
 */
static uint64_t places_in(const gab_order *order, int bits, uint64_t position)
{
  uint32_t at[3];
  uint64_t places = 1;
  order->curve->decode(order->grid.dimension, bits, position, at);
  for (int axis = 0; axis < order->grid.dimension; ++axis) {
    int64_t low = (int64_t)at[axis] << (order->bits - bits);
    int64_t high = ((int64_t)at[axis] + 1) << (order->bits - bits);
    if (high > order->grid.roots[axis]) high = order->grid.roots[axis];
    places *= high > low ? (uint64_t)(high - low) : 0;
  }
  return places;
}

/* Places of the grid before a position of the finest cubes. */
static uint64_t rank_of(const gab_order *order, uint64_t position)
{
  int dimension = order->grid.dimension;
  uint64_t rank = 0;
  for (int bits = 1; bits <= order->bits; ++bits) {
    uint64_t cube = position >> (dimension * (order->bits - bits));
    for (uint64_t sibling = cube >> dimension << dimension; sibling < cube; ++sibling)
      rank += places_in(order, bits, sibling);
  }
  return rank;
}

uint64_t gab_order_key(const gab_order *order, gab_block_id id)
{
  int dimension = order->grid.dimension;
  gab_block_place place = gab_block_id_place(&order->grid, id);
  uint32_t at[3] = {(uint32_t)place.at[0], (uint32_t)place.at[1], (uint32_t)place.at[2]};
  uint64_t position = order->curve->encode(dimension, order->bits + place.level, at);
  int inner = dimension * place.level;
  uint64_t within = position & (((uint64_t)1 << inner) - 1);
  return (rank_of(order, position >> inner) << inner | within) << (dimension * (order->depth - place.level));
}

int32_t gab_order_piece(const gab_order *order, uint64_t key, int32_t pieces)
{
  uint64_t keys = order->places << (order->grid.dimension * order->depth);
  return (int32_t)((gab_wide)key * (gab_wide)pieces / keys);
}

typedef struct walk {
  const gab_order *order;
  uint64_t passed;    /* places behind */
  uint64_t low, high; /* ranks to visit */
  gab_order_visit_fn visit;
  void *context;
} walk;

static gab_status visit_root(const walk *walk, uint64_t position)
{
  const gab_order *order = walk->order;
  uint32_t at[3];
  order->curve->decode(order->grid.dimension, order->bits, position, at);
  gab_block_place place = {0, {(int32_t)at[0], (int32_t)at[1], (int32_t)at[2]}};
  return walk->visit(walk->context, gab_block_id_of(&order->grid, place));
}

/* Goes down into a cube of the curve if some of its places are to be visited. */
static gab_status descend(walk *walk, int bits, uint64_t position)
{
  uint64_t places = places_in(walk->order, bits, position);
  if (places == 0 || walk->passed + places <= walk->low || walk->passed >= walk->high) {
    walk->passed += places;
    return GAB_OK;
  }
  if (bits == walk->order->bits) {
    ++walk->passed;
    return visit_root(walk, position);
  }
  int dimension = walk->order->grid.dimension;
  for (uint64_t child = 0; child < (uint64_t)1 << dimension; ++child)
    GAB_TRY(descend(walk, bits + 1, position << dimension | child));
  return GAB_OK;
}

gab_status gab_order_visit_piece(const gab_order *order, int32_t piece, int32_t pieces,
                                 gab_order_visit_fn visit, void *context)
{
  gab_wide below = (gab_wide)pieces - 1; /* rounds up */
  walk walk = {.order = order, .visit = visit, .context = context};
  walk.low = (uint64_t)(((gab_wide)piece * order->places + below) / (gab_wide)pieces);
  walk.high = (uint64_t)((((gab_wide)piece + 1) * order->places + below) / (gab_wide)pieces);
  return descend(&walk, 0, 0);
}
