/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fused multiply-add at the speed of the hardware. */
#ifndef RIDGEPOINT_FMA_H
#define RIDGEPOINT_FMA_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

/* A block in which the lanes of each fused multiply-add are computed by one call; the block
 * itself where nothing is gained. The statements are shared with the given block. */
IRSB *with_fused_lanes(IRSB *block);

#endif
