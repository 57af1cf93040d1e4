/**
 * @file  robot_fmui3.c
 * @brief The robot behind the Functional Mock-up Interface 3.0.
 */

#include "robot_fmui3.h"

#include "robot_fmui3_answer.h"
#include "robot_fmui3_unused.h"

const char *ROBOT_FMU_NAME(fmi3GetVersion)(void)
{
    return "3.0";
}

fmi3Status ROBOT_FMU_NAME(fmi3SetDebugLogging)(
    fmi3Instance instance, fmi3Boolean unused1, size_t unused2, const fmi3String *unused3)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)instance;
    return fmi3OK;
}

fmi3Instance ROBOT_FMU_NAME(fmi3InstantiateModelExchange)(fmi3String name, fmi3String token, fmi3String resources,
    fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    (void)resources;
    (void)visible;
    (void)logging;
    return robot_fmu_make(name, token, (robot_fmu_logger_t)log, environment);
}

fmi3Instance ROBOT_FMU_NAME(fmi3InstantiateCoSimulation)(fmi3String name, fmi3String token, fmi3String resources,
    fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early_return,
    const fmi3ValueReference *intermediate, size_t count, fmi3InstanceEnvironment environment,
    fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update)
{
    (void)resources;
    (void)visible;
    (void)logging;
    (void)event_mode;
    (void)early_return;
    (void)intermediate;
    (void)count;
    (void)update;
    return robot_fmu_make(name, token, (robot_fmu_logger_t)log, environment);
}

void ROBOT_FMU_NAME(fmi3FreeInstance)(fmi3Instance instance)
{
    robot_fmu_free(instance);
}

fmi3Status ROBOT_FMU_NAME(fmi3EnterInitializationMode)(fmi3Instance instance, fmi3Boolean has_tolerance,
    fmi3Float64 tolerance, fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop)
{
    (void)has_stop;
    (void)stop;
    robot_fmu_start(instance, has_tolerance, tolerance, start);
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3ExitInitializationMode)(fmi3Instance instance)
{
    robot_fmu_instance_t *const own = instance;
    return robot_fmu_answer(own, robot_fmu_begin(&own->fmu));
}

fmi3Status ROBOT_FMU_NAME(fmi3Terminate)(fmi3Instance instance)
{
    (void)instance;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3Reset)(fmi3Instance instance)
{
    robot_fmu_instance_t *const own = instance;
    robot_fmu_reset(&own->fmu);
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3GetFloat64)(
    fmi3Instance instance, const fmi3ValueReference *references, size_t count, fmi3Float64 *values, size_t value_count)
{
    robot_fmu_instance_t *const own = instance;
    own->fmu.problem = "fmi3GetFloat64: every variable is one number";
    const int status = (value_count == count) ? robot_fmu_get(&own->fmu, references, count, values) : ROBOT_FMU_FAILED;
    return robot_fmu_answer(own, status);
}

fmi3Status ROBOT_FMU_NAME(fmi3SetFloat64)(fmi3Instance instance, const fmi3ValueReference *references, size_t count,
    const fmi3Float64 *values, size_t value_count)
{
    robot_fmu_instance_t *const own = instance;
    own->fmu.problem = "fmi3SetFloat64: every variable is one number";
    const int status = (value_count == count) ? robot_fmu_set(&own->fmu, references, count, values) : ROBOT_FMU_FAILED;
    return robot_fmu_answer(own, status);
}

fmi3Status ROBOT_FMU_NAME(fmi3GetFMUState)(fmi3Instance instance, fmi3FMUState *kept)
{
    return robot_fmu_answer(instance, robot_fmu_keep(instance, kept));
}

fmi3Status ROBOT_FMU_NAME(fmi3SetFMUState)(fmi3Instance instance, fmi3FMUState kept)
{
    return robot_fmu_answer(instance, robot_fmu_restore(instance, kept));
}

fmi3Status ROBOT_FMU_NAME(fmi3FreeFMUState)(fmi3Instance instance, fmi3FMUState *kept)
{
    (void)instance;
    free(*kept);
    *kept = NULL;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3SerializedFMUStateSize)(fmi3Instance instance, fmi3FMUState kept, size_t *size)
{
    (void)instance;
    (void)kept;
    *size = sizeof(robot_fmu_state_t);
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3SerializeFMUState)(fmi3Instance instance, fmi3FMUState kept, fmi3Byte *bytes, size_t size)
{
    return robot_fmu_answer(instance, robot_fmu_serialize(instance, kept, bytes, size));
}

fmi3Status ROBOT_FMU_NAME(fmi3DeserializeFMUState)(
    fmi3Instance instance, const fmi3Byte *bytes, size_t size, fmi3FMUState *kept)
{
    return robot_fmu_answer(instance, robot_fmu_deserialize(instance, bytes, size, kept));
}

fmi3Status ROBOT_FMU_NAME(fmi3GetDirectionalDerivative)(fmi3Instance instance, const fmi3ValueReference *unknowns,
    size_t unknown_count, const fmi3ValueReference *knowns, size_t known_count, const fmi3Float64 *change,
    size_t changes, fmi3Float64 *answer, size_t answers)
{
    robot_fmu_instance_t *const own = instance;
    if ((changes != known_count) || (answers != unknown_count)) {
        return robot_fmu_refuse(own, "fmi3GetDirectionalDerivative: every variable is one number");
    }
    return robot_fmu_answer(
        own, robot_fmu_directional(&own->fmu, unknowns, unknown_count, knowns, known_count, change, answer));
}

fmi3Status ROBOT_FMU_NAME(fmi3EnterEventMode)(fmi3Instance instance)
{
    (void)instance;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3EvaluateDiscreteStates)(fmi3Instance instance)
{
    (void)instance;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3UpdateDiscreteStates)(fmi3Instance instance, fmi3Boolean *again, fmi3Boolean *terminate,
    fmi3Boolean *nominals_changed, fmi3Boolean *values_changed, fmi3Boolean *has_next, fmi3Float64 *next)
{
    robot_fmu_instance_t *const own = instance;
    int changed = 0;
    const int status = robot_fmu_event(&own->fmu, &changed);
    *again = false;
    *terminate = status != ROBOT_FMU_OK;
    *nominals_changed = false;
    *values_changed = changed != 0;
    *has_next = false;
    *next = 0.0;
    return robot_fmu_answer(own, status);
}

fmi3Status ROBOT_FMU_NAME(fmi3EnterContinuousTimeMode)(fmi3Instance instance)
{
    (void)instance;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3CompletedIntegratorStep)(
    fmi3Instance instance, fmi3Boolean keeps_nothing, fmi3Boolean *event, fmi3Boolean *terminate)
{
    robot_fmu_instance_t *const own = instance;
    (void)keeps_nothing;
    *event = robot_fmu_wants_event(&own->fmu) != 0;
    *terminate = false;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3SetTime)(fmi3Instance instance, fmi3Float64 time)
{
    robot_fmu_instance_t *const own = instance;
    robot_fmu_set_time(&own->fmu, time);
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3SetContinuousStates)(fmi3Instance instance, const fmi3Float64 *x, size_t count)
{
    return robot_fmu_answer(instance, robot_fmu_set_states(instance, x, count));
}

fmi3Status ROBOT_FMU_NAME(fmi3GetContinuousStateDerivatives)(fmi3Instance instance, fmi3Float64 *values, size_t count)
{
    return robot_fmu_answer(instance, robot_fmu_get_states(instance, ROBOT_FMU_DERIVATIVES, values, count));
}

fmi3Status ROBOT_FMU_NAME(fmi3GetContinuousStates)(fmi3Instance instance, fmi3Float64 *values, size_t count)
{
    return robot_fmu_answer(instance, robot_fmu_get_states(instance, ROBOT_FMU_Q, values, count));
}

fmi3Status ROBOT_FMU_NAME(fmi3GetEventIndicators)(fmi3Instance instance, fmi3Float64 *indicators, size_t count)
{
    const robot_fmu_instance_t *const own = instance;
    for (size_t i = 0u; i < count; ++i) {
        indicators[i] = robot_fmu_indicator(&own->fmu);
    }
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3GetNominalsOfContinuousStates)(fmi3Instance instance, fmi3Float64 *nominals, size_t count)
{
    (void)instance;
    for (size_t i = 0u; i < count; ++i) {
        nominals[i] = 1.0;
    }
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3GetNumberOfEventIndicators)(fmi3Instance instance, size_t *count)
{
    (void)instance;
    *count = ROBOT_FMU_INDICATORS;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3GetNumberOfContinuousStates)(fmi3Instance instance, size_t *count)
{
    (void)instance;
    *count = ROBOT_FMU_STATES;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3EnterStepMode)(fmi3Instance instance)
{
    (void)instance;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3GetOutputDerivatives)(fmi3Instance instance, const fmi3ValueReference *unused1,
    size_t unused2, const fmi3Int32 *unused3, fmi3Float64 *unused4, size_t unused5)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    (void)unused5;
    return robot_fmu_refuse(instance, "fmi3GetOutputDerivatives: derivatives are variables: der(q), der(qd)");
}

fmi3Status ROBOT_FMU_NAME(fmi3DoStep)(fmi3Instance instance, fmi3Float64 now, fmi3Float64 step,
    fmi3Boolean keeps_nothing, fmi3Boolean *event, fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *reached)
{
    robot_fmu_instance_t *const own = instance;
    (void)keeps_nothing;
    *event = false;
    *terminate = false;
    *early = false;
    own->fmu.problem = "fmi3DoStep: the step is not positive";
    const int status = (step > 0.0) ? robot_fmu_advance(&own->fmu, now, now + step) : ROBOT_FMU_FAILED;
    *reached = own->fmu.state.v[ROBOT_FMU_TIME];
    return robot_fmu_answer(own, status);
}
