/* ---- What all targets share ------------------------------------------------------------------------------- */

/* Where agents are. In a d_step the first alternative whose guard holds is taken, as in a chain of else-ifs. */
#define HAS_STEPS(node)   ((node) < FIRST_WAITING)
#define WAITS_ON(node)    ((node) >= FIRST_WAITING && (node) < FIRST_PARKED -> wait_bar[(node) - FIRST_WAITING] : NOBODY)
#define HAS_EXITED(agent) (at[agent] == EXITED)
#define NOBODY 255
#define MINE (1 << _pid)

/* Nothing is claimed about what follows the violation of a rule that ends paths. */
bool ended;

/* A violation of a rule that ends the path; of one that does not; the end of a path that is no error. */
#define violated(rule) rule = 1; assert(!rule); rule = 0; ended = 1
#define noted(rule)    rule = 1; assert(!rule); rule = 0
#ifdef IGNORE_CUTS
#define cut(why)       ended = 1
#else
#define cut(why)       why = 1; assert(!why); why = 0; ended = 1
#endif

/* Scratch: set anew in every step before it is read, and no part of the state. */
hidden short row, result;
hidden byte bar, agent, waiters, gone, other;
