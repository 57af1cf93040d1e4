/* The functions of the model as a switch calls them: a sample of what is generated. */
#ifndef ROBOT_SWITCH_CALLS_H
#define ROBOT_SWITCH_CALLS_H

#if ROBOT_REFRACTS
static int robot_switch_call_mass_matrix(
    const robot_params_t *p, const int *k, const robot_scalar_t *q, robot_scalar_t *M)
{
    robot_params_t heavier = *p;
    heavier.mass *= (k[0] > 1) ? REAL(4.0) : REAL(1.0); /* the second element is */
    robot_mass_matrix(&heavier, q, M);
    return 0;
}
#endif

#if ROBOT_HAS_KINETIC_ENERGY && ROBOT_HAS_POTENTIAL_ENERGY
static int robot_switch_call_kinetic_energy(
    const robot_params_t *p, const int *k, const robot_scalar_t *q, const robot_scalar_t *qd, robot_scalar_t *T)
{
    robot_params_t heavier = *p;
    heavier.mass *= (k[0] > 1) ? REAL(4.0) : REAL(1.0);
    robot_kinetic_energy(&heavier, q, qd, T);
    return 0;
}

static int robot_switch_call_potential_energy(
    const robot_params_t *p, const int *k, const robot_scalar_t *q, robot_scalar_t *V)
{
    (void)k;
    robot_potential_energy(p, q, V);
    return 0;
}
#endif

#endif /* ROBOT_SWITCH_CALLS_H */
