/* SPDX-License-Identifier: Apache-2.0 */
/** @file gabion/resilience.h
 *  @brief Time loop, checkpoints and recovery; global restart for programs without blocks.
 *
 *  Stability: stable.
 */
#ifndef GABION_UMBRELLA_RESILIENCE_H
#define GABION_UMBRELLA_RESILIENCE_H

#include "resilience/loop/interval.h"
#include "resilience/loop/timeloop.h"
#include "resilience/resilience_config.h"
#include "resilience/recovery/reinit.h"
#include "resilience/recovery/state.h"
#include "resilience/reports/completion.h"
#include "resilience/reports/program_main.h"
#include "resilience/reports/summary.h"

#endif
