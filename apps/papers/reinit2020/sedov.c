/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/papers/reinit2020/sedov.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double gamma_gas = 1.4, at_rest = 1e-5 /* pressure */, courant = 0.4;
static const double blast = 0.851072; /* energy with which the radius is 1 at time 1 (gamma 1.4, density 1) */
static const double pi = 3.14159265358979323846;

/* ---------------------------------------------------------------- space */

static int rank_at(const sedov *s, int d, int side)
{
  int at[3] = {s->at[0], s->at[1], s->at[2]};
  at[d] += side == 0 ? -1 : 1;
  if (at[d] < 0 || at[d] == s->boxes[d]) return MPI_PROC_NULL;
  return (at[0] * s->boxes[1] + at[1]) * s->boxes[2] + at[2];
}

static void cut_space(sedov *s)
{
  int processes;
  MPI_Comm_rank(s->comm, &s->rank);
  MPI_Comm_size(s->comm, &processes);
  s->boxes[0] = s->boxes[1] = s->boxes[2] = 0;
  MPI_Dims_create(processes, 3, s->boxes);
  s->at[0] = s->rank / (s->boxes[1] * s->boxes[2]);
  s->at[1] = s->rank / s->boxes[2] % s->boxes[1];
  s->at[2] = s->rank % s->boxes[2];
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++) s->neighbour[d][side] = rank_at(s, d, side);
  s->dx = 1.0 / (s->edge * s->boxes[2]); /* the smallest of the three: space is 1 wide there */
}

static gas *cell(const sedov *s, int x, int y, int z)
{
  const size_t n = (size_t)s->padded;
  return &s->cells[((size_t)(z + GAS_GHOSTS) * n + (size_t)(y + GAS_GHOSTS)) * n + (size_t)(x + GAS_GHOSTS)];
}

/* Cell `along` of the line (a, b) in direction d. */
static gas *on_line(const sedov *s, int d, int along, int a, int b)
{
  return d == 0 ? cell(s, along, a, b) : d == 1 ? cell(s, a, along, b) : cell(s, a, b, along);
}

/* ---------------------------------------------------------------- ghosts */

/* Layers first, first + 1 along d, to or from a message. */
static void copy_layers(const sedov *s, int d, int first, gas *message, int into_message)
{
  size_t at = 0;
  for (int layer = first; layer < first + GAS_GHOSTS; layer++)
    for (int b = 0; b < s->edge; b++)
      for (int a = 0; a < s->edge; a++, at++) {
        gas *here = on_line(s, d, layer, a, b);
        if (into_message) message[at] = *here;
        else *here = message[at];
      }
}

static void mirror(const sedov *s, int d, int side)
{
  for (int layer = 0; layer < GAS_GHOSTS; layer++)
    for (int b = 0; b < s->edge; b++)
      for (int a = 0; a < s->edge; a++) {
        gas *ghost = on_line(s, d, side == 0 ? -1 - layer : s->edge + layer, a, b);
        *ghost = *on_line(s, d, side == 0 ? layer : s->edge - 1 - layer, a, b);
        ghost->q[1 + d] = -ghost->q[1 + d];
      }
}

static void fetch_ghosts(const sedov *s, int d)
{
  const int count = s->edge * s->edge * GAS_GHOSTS * GAS_VALUES;
  for (int side = 0; side < 2; side++) { /* side: where the message goes */
    copy_layers(s, d, side == 0 ? 0 : s->edge - GAS_GHOSTS, s->out, 1);
    proxy_swap(s->comm, side, s->out->q, count, s->neighbour[d][side], s->in->q, count,
               s->neighbour[d][!side]);
    if (s->neighbour[d][!side] == MPI_PROC_NULL) mirror(s, d, !side);
    else copy_layers(s, d, side == 0 ? s->edge : -GAS_GHOSTS, s->in, 0);
  }
}

/* ---------------------------------------------------------------- the gas along a line */

static double pressure(const gas *u)
{
  const double kinetic = 0.5 * (u->q[1] * u->q[1] + u->q[2] * u->q[2] + u->q[3] * u->q[3]) / u->q[0];
  return fmax((gamma_gas - 1) * (u->q[4] - kinetic), 1e-12);
}

static double sound(const gas *u) { return sqrt(gamma_gas * pressure(u) / u->q[0]); }

static gas flux_of(const gas *u, int d)
{
  const double v = u->q[1 + d] / u->q[0], p = pressure(u);
  gas f;
  for (int i = 0; i < GAS_VALUES; i++) f.q[i] = v * u->q[i];
  f.q[1 + d] += p;
  f.q[4] += p * v;
  return f;
}

/* The state between the contact and the wave of speed `wave`. */
static gas star(const gas *u, int d, double wave, double contact)
{
  const double v = u->q[1 + d] / u->q[0], density = u->q[0] * (wave - v) / (wave - contact);
  gas inner;
  inner.q[0] = density;
  for (int i = 1; i < 4; i++) inner.q[i] = density * u->q[i] / u->q[0];
  inner.q[1 + d] = density * contact;
  inner.q[4] =
      density * (u->q[4] / u->q[0] + (contact - v) * (contact + pressure(u) / (u->q[0] * (wave - v))));
  return inner;
}

/* HLLC. */
static gas riemann(const gas *l, const gas *r, int d)
{
  const double vl = l->q[1 + d] / l->q[0], vr = r->q[1 + d] / r->q[0], pl = pressure(l), pr = pressure(r);
  const double fastest = fmax(sound(l), sound(r));
  const double left = fmin(vl, vr) - fastest, right = fmax(vl, vr) + fastest;
  const double ml = l->q[0] * (left - vl), mr = r->q[0] * (right - vr);
  const double contact = (pr - pl + ml * vl - mr * vr) / (ml - mr);
  const gas *u = contact >= 0 ? l : r;
  const double wave = contact >= 0 ? left : right;
  gas f = flux_of(u, d);
  if (contact >= 0 ? left >= 0 : right <= 0) return f;
  const gas inner = star(u, d, wave, contact);
  for (int i = 0; i < GAS_VALUES; i++) f.q[i] += wave * (inner.q[i] - u->q[i]);
  return f;
}

static double minmod(double a, double b) { return a * b <= 0 ? 0 : fabs(a) < fabs(b) ? a : b; }

/* Values at both faces of the middle cell, half a step later. */
static void reconstruct(const gas *u, int d, double ratio, gas *low, gas *high)
{
  for (int i = 0; i < GAS_VALUES; i++) {
    const double slope = minmod(u[0].q[i] - u[-1].q[i], u[1].q[i] - u[0].q[i]);
    low->q[i] = u->q[i] - 0.5 * slope;
    high->q[i] = u->q[i] + 0.5 * slope;
  }
  const gas from = flux_of(low, d), to = flux_of(high, d);
  for (int i = 0; i < GAS_VALUES; i++) {
    const double change = 0.5 * ratio * (from.q[i] - to.q[i]);
    low->q[i] += change;
    high->q[i] += change;
  }
  if (low->q[0] <= 0 || high->q[0] <= 0 || pressure(low) <= 1e-12 || pressure(high) <= 1e-12)
    *low = *high = *u;
}

static void sweep_line(const sedov *s, int d, int a, int b, double ratio)
{
  const int n = s->edge;
  gas *u = s->line + GAS_GHOSTS, high = {{0}};
  for (int i = -GAS_GHOSTS; i < n + GAS_GHOSTS; i++) u[i] = *on_line(s, d, i, a, b);
  for (int i = -1; i <= n; i++) { /* flux[i]: between the cells i - 1 and i */
    gas low, next;
    reconstruct(&u[i], d, ratio, &low, &next);
    if (i >= 0) s->flux[i] = riemann(&high, &low, d);
    high = next;
  }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < GAS_VALUES; k++)
      on_line(s, d, i, a, b)->q[k] += ratio * (s->flux[i].q[k] - s->flux[i + 1].q[k]);
}

/* ---------------------------------------------------------------- a step */

static double find_step(const sedov *s)
{
  double here = 0, fastest = 1;
  for (int z = 0; z < s->edge; z++)
    for (int y = 0; y < s->edge; y++)
      for (int x = 0; x < s->edge; x++) {
        const gas *u = cell(s, x, y, z);
        for (int d = 0; d < 3; d++) here = fmax(here, fabs(u->q[1 + d] / u->q[0]) + sound(u));
      }
  MPI_Allreduce(&here, &fastest, 1, MPI_DOUBLE, MPI_MAX, s->comm);
  return courant * s->dx / fastest;
}

void sedov_step(sedov *s)
{
  const double dt = find_step(s);
  const int odd = (int64_t)s->state->steps % 2;
  for (int turn = 0; turn < 3; turn++) {
    const int d = odd ? 2 - turn : turn;
    fetch_ghosts(s, d);
    for (int b = 0; b < s->edge; b++)
      for (int a = 0; a < s->edge; a++) sweep_line(s, d, a, b, dt / s->dx);
  }
  s->state->time += dt;
  s->state->steps++;
}

/* ---------------------------------------------------------------- start and end */

static double distance(const sedov *s, int x, int y, int z)
{
  const double i = s->at[0] * s->edge + x + 0.5, j = s->at[1] * s->edge + y + 0.5,
               k = s->at[2] * s->edge + z + 0.5;
  return s->dx * sqrt(i * i + j * j + k * k);
}

static void set_gas(sedov *s)
{
  const double volume = s->dx * s->dx * s->dx, reach = 3.5 * s->dx;
  int heated = 0;
  for (int k = 0; k < 4; k++) /* of the corner, whoever has it */
    for (int j = 0; j < 4; j++)
      for (int i = 0; i < 4; i++)
        heated += sqrt((i + 0.5) * (i + 0.5) + (j + 0.5) * (j + 0.5) + (k + 0.5) * (k + 0.5)) < 3.5;
  for (int z = 0; z < s->edge; z++)
    for (int y = 0; y < s->edge; y++)
      for (int x = 0; x < s->edge; x++) {
        gas *u = cell(s, x, y, z);
        u->q[0] = 1;
        u->q[4] =
            at_rest / (gamma_gas - 1) + (distance(s, x, y, z) < reach ? blast / 8 / (heated * volume) : 0);
      }
}

static void *allocate(size_t count, size_t bytes)
{
  void *memory = calloc(count, bytes);
  if (!memory) MPI_Abort(MPI_COMM_WORLD, 1);
  return memory;
}

void sedov_begin(sedov *s, MPI_Comm comm, int edge)
{
  sedov_end(s);
  s->comm = comm;
  s->edge = edge;
  s->padded = edge + 2 * GAS_GHOSTS;
  cut_space(s);
  const size_t face = GAS_GHOSTS * (size_t)edge * (size_t)edge;
  const size_t cells = (size_t)s->padded * (size_t)s->padded * (size_t)s->padded;
  s->state_bytes = sizeof *s->state + cells * sizeof *s->cells;
  s->state = allocate(1, s->state_bytes);
  s->cells = s->state->cells;
  s->line = allocate((size_t)s->padded, sizeof *s->line);
  s->flux = allocate((size_t)s->padded, sizeof *s->flux);
  s->out = allocate(face, sizeof *s->out);
  s->in = allocate(face, sizeof *s->in);
  set_gas(s);
}

/* Sums over all: mass, energy, volume behind the shock. @return false if they could not be found */
static int find_sums(const sedov *s, double all[3])
{
  double here[3] = {0}, highest = 0, everywhere = 1;
  for (int z = 0; z < s->edge; z++)
    for (int y = 0; y < s->edge; y++)
      for (int x = 0; x < s->edge; x++) highest = fmax(highest, pressure(cell(s, x, y, z)));
  MPI_Allreduce(&highest, &everywhere, 1, MPI_DOUBLE, MPI_MAX, s->comm);
  const double volume = s->dx * s->dx * s->dx;
  for (int z = 0; z < s->edge; z++)
    for (int y = 0; y < s->edge; y++)
      for (int x = 0; x < s->edge; x++) {
        const gas *u = cell(s, x, y, z);
        here[0] += volume * u->q[0];
        here[1] += volume * u->q[4];
        here[2] += pressure(u) > 0.2 * everywhere ? volume
                                                  : 0; /* within, it is 0.37 of that at the shock and more */
      }
  return MPI_Allreduce(here, all, 3, MPI_DOUBLE, MPI_SUM, s->comm) == MPI_SUCCESS;
}

void sedov_report(const sedov *s)
{
  double sums[3] = {0};
  const double space = (double)s->boxes[0] * s->boxes[1] / ((double)s->boxes[2] * s->boxes[2]);
  const double energy = blast / 8 + space * at_rest / (gamma_gas - 1);
  const int found = find_sums(s, sums);
  if (found && s->rank == 0)
    printf("sedov: time %.6f, radius %.4f, exact %.4f; mass %+.2e, energy %+.2e since the start\n",
           s->state->time, cbrt(6 * sums[2] / pi), pow(s->state->time, 0.4), sums[0] / space - 1,
           sums[1] / energy - 1);
  proxy_checksum(s->comm, "sedov",
                 proxy_hash(&s->state->time, s->state_bytes / sizeof(double), (uint64_t)s->rank));
}

void sedov_end(sedov *s)
{
  free(s->line);
  free(s->flux);
  free(s->out);
  free(s->in);
  free(s->state);
  *s = (struct sedov){.rank = 0};
}
