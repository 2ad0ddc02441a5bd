/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/papers/reinit2020/md.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double density = 0.8442, temperature = 1.44, cutoff = 2.5, dt = 0.002;

enum { GHOST_WORDS = 4, ATOM_WORDS = sizeof(md_atom) / sizeof(double) };

/* ---------------------------------------------------------------- space */

static int rank_of(const md *md, const int at[3])
{
  int wrapped[3];
  for (int d = 0; d < 3; d++) wrapped[d] = (at[d] + md->boxes[d]) % md->boxes[d];
  return (wrapped[0] * md->boxes[1] + wrapped[1]) * md->boxes[2] + wrapped[2];
}

static void cut_space(md *md, int edge)
{
  const double lattice = cbrt(4 / density);
  int processes;
  MPI_Comm_rank(md->comm, &md->rank);
  MPI_Comm_size(md->comm, &processes);
  md->boxes[0] = md->boxes[1] = md->boxes[2] = 0;
  MPI_Dims_create(processes, 3, md->boxes);
  md->at[0] = md->rank / (md->boxes[1] * md->boxes[2]);
  md->at[1] = md->rank / md->boxes[2] % md->boxes[1];
  md->at[2] = md->rank % md->boxes[2];
  for (int d = 0; d < 3; d++) {
    int beside[3] = {md->at[0], md->at[1], md->at[2]};
    beside[d] = md->at[d] - 1;
    md->neighbour[d][0] = rank_of(md, beside);
    beside[d] = md->at[d] + 1;
    md->neighbour[d][1] = rank_of(md, beside);
    md->width[d] = edge * lattice;
    md->low[d] = md->at[d] * md->width[d];
    md->length[d] = md->boxes[d] * md->width[d];
    md->cells[d] = (int)(md->width[d] / cutoff);
  }
  md->total_atoms = 4.0 * edge * edge * edge * processes;
}

/* Cell of a coordinate, -1 and cells[d] being ghosts. Whatever it is, the result is a cell. */
static int cell_along(const md *md, int d, double x)
{
  const double cell = floor((x - md->low[d]) / md->width[d] * md->cells[d]);
  return cell >= md->cells[d] ? md->cells[d] : cell >= 0 ? (int)cell : -1;
}

static int cell_number(const md *md, int x, int y, int z)
{
  return ((x + 1) * (md->cells[1] + 2) + y + 1) * (md->cells[2] + 2) + z + 1;
}

static int cell_count(const md *md) { return (md->cells[0] + 2) * (md->cells[1] + 2) * (md->cells[2] + 2); }

/* ---------------------------------------------------------------- messages */

/* To one neighbour along d, from the opposite one. @return how many numbers came */
static int swap(md *md, int d, int side, int count)
{
  return proxy_swap(md->comm, side, md->out, count, md->neighbour[d][side], md->in, md->most * ATOM_WORDS,
                    md->neighbour[d][!side]);
}

/* What a coordinate has to be changed by when it goes to the neighbour on that side: space is periodic. */
static double shift(const md *md, int d, int side)
{
  if (side == 0 && md->at[d] == 0) return md->length[d];
  if (side == 1 && md->at[d] == md->boxes[d] - 1) return -md->length[d];
  return 0;
}

/* Atoms that have left the box go to the neighbours, along x, then y, then z. */
static void migrate(md *md)
{
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++) {
      int stays = 0, words = 0;
      for (int i = 0; i < md->local; i++) {
        md_atom *atom = &md->atoms[i];
        const int cell = cell_along(md, d, atom->r[d]);
        if (side == 0 ? cell < 0 : cell == md->cells[d]) {
          atom->r[d] += shift(md, d, side);
          memcpy(md->out + words, atom, sizeof *atom);
          words += ATOM_WORDS;
        } else md->atoms[stays++] = *atom;
      }
      const int came = swap(md, d, side, words) / ATOM_WORDS;
      for (int i = 0; i < came && stays < md->most; i++)
        memcpy(&md->atoms[stays++], md->in + i * ATOM_WORDS, sizeof(md_atom));
      md->local = stays;
    }
}

/* Atoms of the outer layers of cells, ghosts of the directions before included, become ghosts of the
 * neighbours. */
static void fetch_ghosts(md *md)
{
  md->ghosts = 0;
  for (int d = 0; d < 3; d++) {
    const int known = md->local + md->ghosts; /* what comes from one side does not go on to the other */
    for (int side = 0; side < 2; side++) {
      int words = 0;
      for (int i = 0; i < known; i++) {
        const md_atom *atom = &md->atoms[i];
        const int cell = cell_along(md, d, atom->r[d]);
        if (side == 0 ? cell > 0 : cell < md->cells[d] - 1) continue;
        for (int k = 0; k < 3; k++) md->out[words + k] = atom->r[k] + (k == d ? shift(md, d, side) : 0);
        md->out[words + 3] = atom->id;
        words += GHOST_WORDS;
      }
      const int came = swap(md, d, side, words) / GHOST_WORDS;
      for (int i = 0; i < came && md->local + md->ghosts < md->most; i++) {
        md_atom *ghost = &md->atoms[md->local + md->ghosts++];
        memcpy(ghost->r, md->in + i * GHOST_WORDS, sizeof ghost->r);
        ghost->id = md->in[i * GHOST_WORDS + 3];
      }
    }
  }
}

/* ---------------------------------------------------------------- cells */

/* Lists `count` atoms by cell, in each by id: so sums do not depend on the order in which atoms came. */
static void sort_by_cell(md *md, int count)
{
  const int cells = cell_count(md);
  memset(md->first, 0, (size_t)(cells + 1) * sizeof *md->first);
  for (int i = 0; i < count; i++) {
    const double *r = md->atoms[i].r;
    md->cell_of[i] =
        cell_number(md, cell_along(md, 0, r[0]), cell_along(md, 1, r[1]), cell_along(md, 2, r[2]));
    md->first[md->cell_of[i] + 1]++;
  }
  for (int c = 0; c < cells; c++) md->first[c + 1] += md->first[c];
  for (int i = count - 1; i >= 0; i--) { /* ends of the cells move down to their beginnings */
    const int end = --md->first[md->cell_of[i] + 1];
    md->order[end] = i;
  }
  for (int c = 0; c < cells; c++) md->first[c] = md->first[c + 1];
  md->first[cells] = count;
  for (int c = 0; c < cells; c++)
    for (int i = md->first[c] + 1; i < md->first[c + 1]; i++) {
      const int moved = md->order[i];
      int k = i;
      for (; k > md->first[c] && md->atoms[md->order[k - 1]].id > md->atoms[moved].id; k--)
        md->order[k] = md->order[k - 1];
      md->order[k] = moved;
    }
}

/* The local atoms themselves come into that order. */
static void arrange(md *md)
{
  sort_by_cell(md, md->local);
  for (int i = 0; i < md->local; i++) md->scratch[i] = md->atoms[md->order[i]];
  memcpy(md->atoms, md->scratch, (size_t)md->local * sizeof *md->atoms);
}

/* ---------------------------------------------------------------- forces */

/* Force on `atom` from those of one cell, and half of the energy of each pair. */
static void add_pairs(md *md, md_atom *atom, int cell)
{
  const double at_cutoff = 4 * (pow(cutoff, -12) - pow(cutoff, -6));
  for (int k = md->first[cell]; k < md->first[cell + 1]; k++) {
    const md_atom *other = &md->atoms[md->order[k]];
    const double x = atom->r[0] - other->r[0], y = atom->r[1] - other->r[1], z = atom->r[2] - other->r[2];
    const double squared = x * x + y * y + z * z;
    if (squared > cutoff * cutoff || other == atom) continue;
    const double s2 = 1 / squared, s6 = s2 * s2 * s2, force = 24 * s6 * (2 * s6 - 1) * s2;
    atom->f[0] += force * x;
    atom->f[1] += force * y;
    atom->f[2] += force * z;
    md->potential += 2 * s6 * (s6 - 1);
    md->shifted += 2 * s6 * (s6 - 1) - 0.5 * at_cutoff;
  }
}

static void find_forces(md *md)
{
  fetch_ghosts(md);
  sort_by_cell(md, md->local + md->ghosts);
  md->potential = md->shifted = 0;
  for (int i = 0; i < md->local; i++) {
    md_atom *atom = &md->atoms[i];
    atom->f[0] = atom->f[1] = atom->f[2] = 0;
    const int x = cell_along(md, 0, atom->r[0]), y = cell_along(md, 1, atom->r[1]),
              z = cell_along(md, 2, atom->r[2]);
    if (x < 0 || y < 0 || z < 0 || x == md->cells[0] || y == md->cells[1] || z == md->cells[2])
      continue; /* lost its way */
    for (int n = 0; n < 27; n++)
      add_pairs(md, atom, cell_number(md, x + n / 9 - 1, y + n / 3 % 3 - 1, z + n % 3 - 1));
  }
}

void md_step(md *md)
{
  md->local = (int)md->state->count;
  for (int i = 0; i < md->local; i++)
    for (int d = 0; d < 3; d++) {
      md->atoms[i].v[d] += 0.5 * dt * md->atoms[i].f[d];
      md->atoms[i].r[d] += dt * md->atoms[i].v[d];
    }
  migrate(md);
  arrange(md);
  find_forces(md);
  for (int i = 0; i < md->local; i++)
    for (int d = 0; d < 3; d++) md->atoms[i].v[d] += 0.5 * dt * md->atoms[i].f[d];
  md->state->count = md->local;
}

/* ---------------------------------------------------------------- the start */

/* Uniform in (-1, 1), a function of atom and direction alone. */
static double random_velocity(uint64_t id, uint64_t direction)
{
  uint64_t word = 3 * id + direction + 1;
  for (int i = 0; i < 3; i++) word = (word ^ word >> 31) * UINT64_C(0x9e3779b97f4a7c15);
  return (double)(int64_t)word / 9223372036854775808.0;
}

static void place_atoms(md *md, int edge)
{
  static const double basis[4][3] = {
      {0.25, 0.25, 0.25}, {0.25, 0.75, 0.75}, {0.75, 0.25, 0.75}, {0.75, 0.75, 0.25}};
  const double lattice = md->width[0] / edge;
  md->local = 0;
  for (int c = 0; c < edge * edge * edge; c++)
    for (int b = 0; b < 4; b++) {
      md_atom *atom = &md->atoms[md->local];
      const int cell[3] = {c / (edge * edge), c / edge % edge, c % edge};
      const uint64_t id = 4 * (uint64_t)md->rank * (uint64_t)(edge * edge * edge) + (uint64_t)md->local++;
      for (int d = 0; d < 3; d++) atom->r[d] = md->low[d] + (cell[d] + basis[b][d]) * lattice;
      for (int d = 0; d < 3; d++) atom->v[d] = random_velocity(id, (uint64_t)d);
      atom->id = (double)id;
    }
}

/* No momentum, and just that temperature. */
static void scale_velocities(md *md)
{
  double here[3] = {0}, mean[3] = {0}, squares = 0, all = 1;
  for (int i = 0; i < md->local; i++)
    for (int d = 0; d < 3; d++) here[d] += md->atoms[i].v[d];
  MPI_Allreduce(here, mean, 3, MPI_DOUBLE, MPI_SUM, md->comm);
  for (int i = 0; i < md->local; i++)
    for (int d = 0; d < 3; d++) {
      md->atoms[i].v[d] -= mean[d] / md->total_atoms;
      squares += md->atoms[i].v[d] * md->atoms[i].v[d];
    }
  MPI_Allreduce(&squares, &all, 1, MPI_DOUBLE, MPI_SUM, md->comm);
  const double factor = sqrt(3 * (md->total_atoms - 1) * temperature / all);
  for (int i = 0; i < md->local; i++)
    for (int d = 0; d < 3; d++) md->atoms[i].v[d] *= factor;
}

/* Per atom: kinetic, potential, potential without what the cutoff takes. @return false if it could not be
 * found */
static int find_energies(const md *md, double energies[3])
{
  double here[3] = {0, md->potential, md->shifted};
  for (int i = 0; i < md->local; i++)
    for (int d = 0; d < 3; d++) here[0] += 0.5 * md->atoms[i].v[d] * md->atoms[i].v[d];
  const int failed = MPI_Allreduce(here, energies, 3, MPI_DOUBLE, MPI_SUM, md->comm) != MPI_SUCCESS;
  for (int i = 0; i < 3; i++) energies[i] /= md->total_atoms;
  return !failed;
}

static void *allocate(size_t count, size_t bytes)
{
  void *memory = calloc(count, bytes);
  if (!memory) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

void md_begin(md *md, MPI_Comm comm, int edge)
{
  double energies[3] = {0};
  md_end(md);
  md->comm = comm;
  cut_space(md, edge);
  double with_ghosts = 1;
  for (int d = 0; d < 3; d++) with_ghosts *= 1 + 2.0 / md->cells[d];
  md->most = (int)(1.3 * 4 * edge * edge * edge * with_ghosts) + 64;
  md->state_bytes = sizeof *md->state + (size_t)md->most * sizeof *md->atoms;
  md->state = allocate(1, md->state_bytes);
  md->atoms = md->state->atoms;
  md->scratch = allocate((size_t)md->most, sizeof *md->scratch);
  md->cell_of = allocate((size_t)md->most, sizeof *md->cell_of);
  md->order = allocate((size_t)md->most, sizeof *md->order);
  md->first = allocate((size_t)cell_count(md) + 1, sizeof *md->first);
  md->out = allocate((size_t)md->most, sizeof(md_atom));
  md->in = allocate((size_t)md->most, sizeof(md_atom));
  place_atoms(md, edge);
  scale_velocities(md);
  arrange(md);
  find_forces(md);
  find_energies(md, energies);
  md->state->count = md->local;
  md->state->initial = energies[0] + energies[2];
  if (md->rank == 0)
    printf("md: at the start, per atom: kinetic %.7f potential %.7f total %.7f\n", energies[0], energies[1],
           energies[0] + energies[1]);
}

void md_report(md *md)
{
  double energies[3] = {0}, count = md->local = (int)md->state->count, atoms = 0;
  find_forces(md); /* the energies of a state that was loaded */
  const int found = find_energies(md, energies);
  if (MPI_Reduce(&count, &atoms, 1, MPI_DOUBLE, MPI_SUM, 0, md->comm) == MPI_SUCCESS && found &&
      md->rank == 0)
    printf("md: per atom: kinetic %.7f potential %.7f total %.7f; drift %.3e; %.0f of %.0f atoms\n",
           energies[0], energies[1], energies[0] + energies[1],
           (energies[0] + energies[2]) / md->state->initial - 1, atoms, md->total_atoms);
  proxy_checksum(md->comm, "md",
                 proxy_hash(&md->atoms[0].r[0], (size_t)md->local * ATOM_WORDS, (uint64_t)md->rank));
}

void md_end(md *md)
{
  free(md->scratch);
  free(md->cell_of);
  free(md->order);
  free(md->first);
  free(md->out);
  free(md->in);
  free(md->state);
  *md = (struct md){.rank = 0};
}
