/**
 * @file  robot_fmui2.h
 * @brief Types and functions of the Functional Mock-up Interface 2.0, as its specification defines them.
 */

#ifndef ROBOT_FMUI2_H
#define ROBOT_FMUI2_H

#include <stddef.h>

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char *fmi2String;
typedef char fmi2Byte;

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;

typedef struct {
    void (*logger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct {
    fmi2Boolean newDiscreteStatesNeeded;
    fmi2Boolean terminateSimulation;
    fmi2Boolean nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged;
    fmi2Boolean nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

/* Linked statically, several units need different names: compile with -DFMI2_FUNCTION_PREFIX=robot_ */
#ifdef FMI2_FUNCTION_PREFIX
#define ROBOT_FMU_PASTE(a, b) a##b
#define ROBOT_FMU_JOIN(a, b)  ROBOT_FMU_PASTE(a, b)
#define ROBOT_FMU_NAME(name)  ROBOT_FMU_JOIN(FMI2_FUNCTION_PREFIX, name)
#else
#define ROBOT_FMU_NAME(name) name
#endif

#if defined(_WIN32)
#define ROBOT_FMU_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define ROBOT_FMU_EXPORT __attribute__((visibility("default")))
#else
#define ROBOT_FMU_EXPORT
#endif

ROBOT_FMU_EXPORT const char *ROBOT_FMU_NAME(fmi2GetTypesPlatform)(void);
ROBOT_FMU_EXPORT const char *ROBOT_FMU_NAME(fmi2GetVersion)(void);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2SetDebugLogging)(
    fmi2Component instance, fmi2Boolean unused1, size_t unused2, const fmi2String *unused3);
ROBOT_FMU_EXPORT fmi2Component ROBOT_FMU_NAME(fmi2Instantiate)(fmi2String name, fmi2Type type, fmi2String token,
    fmi2String resources, const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging);
ROBOT_FMU_EXPORT void ROBOT_FMU_NAME(fmi2FreeInstance)(fmi2Component instance);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2SetupExperiment)(fmi2Component instance, fmi2Boolean has_tolerance,
    fmi2Real tolerance, fmi2Real start, fmi2Boolean has_stop, fmi2Real stop);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2EnterInitializationMode)(fmi2Component instance);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2ExitInitializationMode)(fmi2Component instance);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2Terminate)(fmi2Component instance);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2Reset)(fmi2Component instance);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2GetReal)(
    fmi2Component instance, const fmi2ValueReference *references, size_t count, fmi2Real *values);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2SetReal)(
    fmi2Component instance, const fmi2ValueReference *references, size_t count, const fmi2Real *values);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2GetFMUstate)(fmi2Component instance, fmi2FMUstate *kept);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2SetFMUstate)(fmi2Component instance, fmi2FMUstate kept);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2FreeFMUstate)(fmi2Component instance, fmi2FMUstate *kept);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2SerializedFMUstateSize)(
    fmi2Component instance, fmi2FMUstate kept, size_t *size);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2SerializeFMUstate)(
    fmi2Component instance, fmi2FMUstate kept, fmi2Byte *bytes, size_t size);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2DeSerializeFMUstate)(
    fmi2Component instance, const fmi2Byte *bytes, size_t size, fmi2FMUstate *kept);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2GetDirectionalDerivative)(fmi2Component instance,
    const fmi2ValueReference *unknowns, size_t unknown_count, const fmi2ValueReference *knowns, size_t known_count,
    const fmi2Real *change, fmi2Real *answer);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2EnterEventMode)(fmi2Component instance);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2NewDiscreteStates)(fmi2Component instance, fmi2EventInfo *info);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2EnterContinuousTimeMode)(fmi2Component instance);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2CompletedIntegratorStep)(
    fmi2Component instance, fmi2Boolean keeps_nothing, fmi2Boolean *event, fmi2Boolean *terminate);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2SetTime)(fmi2Component instance, fmi2Real time);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2SetContinuousStates)(
    fmi2Component instance, const fmi2Real *x, size_t count);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2GetDerivatives)(fmi2Component instance, fmi2Real *values, size_t count);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2GetContinuousStates)(
    fmi2Component instance, fmi2Real *values, size_t count);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2GetEventIndicators)(
    fmi2Component instance, fmi2Real *indicators, size_t count);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2GetNominalsOfContinuousStates)(
    fmi2Component instance, fmi2Real *nominals, size_t count);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2SetRealInputDerivatives)(fmi2Component instance,
    const fmi2ValueReference *unused1, size_t unused2, const fmi2Integer *unused3, const fmi2Real *unused4);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2GetRealOutputDerivatives)(fmi2Component instance,
    const fmi2ValueReference *unused1, size_t unused2, const fmi2Integer *unused3, fmi2Real *unused4);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2DoStep)(
    fmi2Component instance, fmi2Real now, fmi2Real step, fmi2Boolean keeps_nothing);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2CancelStep)(fmi2Component instance);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2GetStatus)(
    fmi2Component instance, fmi2StatusKind unused1, fmi2Status *unused2);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2GetRealStatus)(
    fmi2Component instance, fmi2StatusKind kind, fmi2Real *value);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2GetIntegerStatus)(
    fmi2Component instance, fmi2StatusKind unused1, fmi2Integer *unused2);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2GetBooleanStatus)(
    fmi2Component instance, fmi2StatusKind kind, fmi2Boolean *value);
ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2GetStringStatus)(
    fmi2Component instance, fmi2StatusKind unused1, fmi2String *unused2);

#endif /* ROBOT_FMUI2_H */
