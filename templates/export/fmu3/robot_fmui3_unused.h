/* Part of robot_fmui3.c: other types, clocks and configurations, which these units have not. */
#ifndef ROBOT_FMUI3_UNUSED_H
#define ROBOT_FMUI3_UNUSED_H

#include "robot_fmui3_answer.h"

fmi3Instance ROBOT_FMU_NAME(fmi3InstantiateScheduledExecution)(fmi3String name, fmi3String token, fmi3String resources,
    fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
    fmi3ClockUpdateCallback update, fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock)
{
    (void)name;
    (void)token;
    (void)resources;
    (void)visible;
    (void)logging;
    (void)update;
    (void)lock;
    (void)unlock;
    if (log != NULL) {
        log(environment, fmi3Error, "logStatusError",
            "there is no scheduled execution: use model exchange or co-simulation");
    }
    return NULL;
}

fmi3Status ROBOT_FMU_NAME(fmi3GetBinary)(fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2,
    size_t *unused3, fmi3Binary *unused4, size_t unused5)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    (void)unused5;
    return robot_fmu_refuse(instance, "fmi3GetBinary: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3SetBinary)(fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2,
    const size_t *unused3, const fmi3Binary *unused4, size_t unused5)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    (void)unused5;
    return robot_fmu_refuse(instance, "fmi3SetBinary: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3GetClock)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, fmi3Clock *unused3)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    return robot_fmu_refuse(instance, "fmi3GetClock: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3SetClock)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, const fmi3Clock *unused3)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    return robot_fmu_refuse(instance, "fmi3SetClock: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3GetIntervalDecimal)(fmi3Instance instance, const fmi3ValueReference *unused1,
    size_t unused2, fmi3Float64 *unused3, fmi3IntervalQualifier *unused4)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    return robot_fmu_refuse(instance, "fmi3GetIntervalDecimal: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3GetIntervalFraction)(fmi3Instance instance, const fmi3ValueReference *unused1,
    size_t unused2, fmi3UInt64 *unused3, fmi3UInt64 *unused4, fmi3IntervalQualifier *unused5)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    (void)unused5;
    return robot_fmu_refuse(instance, "fmi3GetIntervalFraction: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3GetShiftDecimal)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, fmi3Float64 *unused3)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    return robot_fmu_refuse(instance, "fmi3GetShiftDecimal: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3GetShiftFraction)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, fmi3UInt64 *unused3, fmi3UInt64 *unused4)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    return robot_fmu_refuse(instance, "fmi3GetShiftFraction: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3SetIntervalDecimal)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, const fmi3Float64 *unused3)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    return robot_fmu_refuse(instance, "fmi3SetIntervalDecimal: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3SetIntervalFraction)(fmi3Instance instance, const fmi3ValueReference *unused1,
    size_t unused2, const fmi3UInt64 *unused3, const fmi3UInt64 *unused4)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    return robot_fmu_refuse(instance, "fmi3SetIntervalFraction: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3SetShiftDecimal)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, const fmi3Float64 *unused3)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    return robot_fmu_refuse(instance, "fmi3SetShiftDecimal: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3SetShiftFraction)(fmi3Instance instance, const fmi3ValueReference *unused1,
    size_t unused2, const fmi3UInt64 *unused3, const fmi3UInt64 *unused4)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    return robot_fmu_refuse(instance, "fmi3SetShiftFraction: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3ActivateModelPartition)(
    fmi3Instance instance, fmi3ValueReference unused1, fmi3Float64 unused2)
{
    (void)unused1;
    (void)unused2;
    return robot_fmu_refuse(instance, "fmi3ActivateModelPartition: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3EnterConfigurationMode)(fmi3Instance instance)
{
    return robot_fmu_refuse(instance, "fmi3EnterConfigurationMode: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3ExitConfigurationMode)(fmi3Instance instance)
{
    return robot_fmu_refuse(instance, "fmi3ExitConfigurationMode: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3GetNumberOfVariableDependencies)(
    fmi3Instance instance, fmi3ValueReference unused1, size_t *unused2)
{
    (void)unused1;
    (void)unused2;
    return robot_fmu_refuse(instance, "fmi3GetNumberOfVariableDependencies: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3GetVariableDependencies)(fmi3Instance instance, fmi3ValueReference unused1,
    size_t *unused2, fmi3ValueReference *unused3, size_t *unused4, fmi3DependencyKind *unused5, size_t unused6)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    (void)unused5;
    (void)unused6;
    return robot_fmu_refuse(instance, "fmi3GetVariableDependencies: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3GetAdjointDerivative)(fmi3Instance instance, const fmi3ValueReference *unused1,
    size_t unused2, const fmi3ValueReference *unused3, size_t unused4, const fmi3Float64 *unused5, size_t unused6,
    fmi3Float64 *unused7, size_t unused8)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    (void)unused5;
    (void)unused6;
    (void)unused7;
    (void)unused8;
    return robot_fmu_refuse(instance, "fmi3GetAdjointDerivative: this unit has none");
}

/* Variables of other types, of which a unit has none. */
#define ROBOT_FMU_OTHER_TYPE(type)                                                                                     \
    ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3Get##type)(fmi3Instance instance,                                   \
        const fmi3ValueReference *references, size_t count, fmi3##type *values, size_t value_count);                   \
    ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3Set##type)(fmi3Instance instance,                                   \
        const fmi3ValueReference *references, size_t count, const fmi3##type *values, size_t value_count);             \
    fmi3Status ROBOT_FMU_NAME(fmi3Get##type)(fmi3Instance instance, const fmi3ValueReference *references,              \
        size_t count, fmi3##type *values, size_t value_count)                                                          \
    {                                                                                                                  \
        (void)references;                                                                                              \
        (void)count;                                                                                                   \
        (void)values;                                                                                                  \
        (void)value_count;                                                                                             \
        return robot_fmu_refuse(instance, "fmi3Get" #type ": all variables are Float64");                              \
    }                                                                                                                  \
    fmi3Status ROBOT_FMU_NAME(fmi3Set##type)(fmi3Instance instance, const fmi3ValueReference *references,              \
        size_t count, const fmi3##type *values, size_t value_count)                                                    \
    {                                                                                                                  \
        (void)references;                                                                                              \
        (void)count;                                                                                                   \
        (void)values;                                                                                                  \
        (void)value_count;                                                                                             \
        return robot_fmu_refuse(instance, "fmi3Set" #type ": all variables are Float64");                              \
    }

ROBOT_FMU_OTHER_TYPE(Float32)
ROBOT_FMU_OTHER_TYPE(Int8)
ROBOT_FMU_OTHER_TYPE(UInt8)
ROBOT_FMU_OTHER_TYPE(Int16)
ROBOT_FMU_OTHER_TYPE(UInt16)
ROBOT_FMU_OTHER_TYPE(Int32)
ROBOT_FMU_OTHER_TYPE(UInt32)
ROBOT_FMU_OTHER_TYPE(Int64)
ROBOT_FMU_OTHER_TYPE(UInt64)
ROBOT_FMU_OTHER_TYPE(Boolean)
ROBOT_FMU_OTHER_TYPE(String)

#endif /* ROBOT_FMUI3_UNUSED_H */
