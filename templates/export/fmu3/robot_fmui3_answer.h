/* Part of robot_fmui3.c: what the host gets. */
#ifndef ROBOT_FMUI3_ANSWER_H
#define ROBOT_FMUI3_ANSWER_H

#include "robot_fmui3.h"
#include "robot_fmu_instance.h"

typedef fmi3Status robot_fmu_status_t;

/* What the host gets, and hears where a call failed. */
static fmi3Status robot_fmu_answer(void *instance, int status)
{
    const robot_fmu_instance_t *const own = instance;
    if ((status != ROBOT_FMU_OK) && (own->log != NULL)) {
        ((fmi3LogMessageCallback)own->log)(own->environment, fmi3Error, "logStatusError", own->fmu.problem);
    }
    return (status == ROBOT_FMU_OK) ? fmi3OK : fmi3Error;
}

#include "robot_fmu_make.h"

#endif /* ROBOT_FMUI3_ANSWER_H */
