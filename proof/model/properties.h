/* The properties. A run checks those that its row of expected.txt names; the others cost nothing. */

#ifndef ONE
#define ONE 0
#endif
#ifndef SAME
#define SAME 0
#endif
#ifndef TRUE
#define TRUE 0
#endif
#ifndef LOST
#define LOST 0
#endif
#ifndef KEPT
#define KEPT 0
#endif
#ifndef SPAN
#define SPAN 0
#endif
#ifndef NOTICED
#define NOTICED 0
#endif
#ifndef PATIENT
#define PATIENT 0
#endif
#ifndef COUNTED
#define COUNTED 0
#endif
#ifndef FINISHED
#define FINISHED 0
#endif
#ifndef LOSER
#define LOSER 0
#endif
#ifndef VERDICT
#define VERDICT 0
#endif
#ifndef FRESH
#define FRESH 0
#endif
#ifndef SETTLED
#define SETTLED 0
#endif

#ifndef LIVE               /* that call 1, which meets no fault itself and comes again when it is refused, gets an answer in the end */
#define LIVE 0
#endif

#define FAULTS_SPARE_ME (LIVE && me == 1)
#define MAY_CRASH       (crashes > 0 && !FAULTS_SPARE_ME)
#define MAY_BE_SILENT   (silences > 0 && !FAULTS_SPARE_ME)

#define check(property, fact) assert(!(property) || (fact))

/* The weakening of this run, or 0. */
#ifndef WEAK
#define WEAK 0
#endif
