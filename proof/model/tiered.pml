/* The tiered store: a cache of finished results before a database that decides.
 *
 * One key, CALLS calls of it and one operator who forgets its record. The database is one atomic step: that claim, work and DONE are
 * one there is what transactional.pml shows. The cache may lose a copy at any time, and not answer. Database and cache have clocks of
 * their own, which drift apart by a tick at most. */

#include "properties.h"

#ifndef CALLS
#define CALLS 3
#endif
#ifndef FORGETS
#define FORGETS 1
#endif
#ifndef LOST_BARS          /* how many bars the cache loses: a failover, an eviction */
#define LOST_BARS 0
#endif
#ifndef LOST_COMMITS       /* how many commits the database loses in a failover */
#define LOST_COMMITS 0
#endif
#ifndef LONG_PAUSES        /* whether the operator's process may pause between the bar and the change for longer than the bar lasts */
#define LONG_PAUSES 0
#endif

#define NO_BAR             1
#define BAR_AFTER_ONLY     2
#define BAR_BEFORE_ONLY    3
#define COPY_OVER_BAR      4
#define COPY_OF_ANY_AGE    5
#define COPY_BEFORE_COMMIT 6
#define NO_MARGIN          7
#define AGE_NOT_COUNTED    8
#define MISS_IS_ABSENT     9

#define RETENTION 4
#define MARGIN    (WEAK == NO_MARGIN -> 0 : 2)   /* the most that the clocks can drift apart while a copy lives */
#define BAR       3
#define OLDEST    1                              /* the age at which a copy may still be written */
#define HOLDS     1                              /* how long the operator may take for the change; + OLDEST < BAR */

mtype = { EMPTY, COPY, BARRED };

bool done;                         /* the record in the database */
byte by, left;                     /* whose result; ticks of the database until it expires */
mtype cache = EMPTY;
byte copyOf, copyLeft, barLeft;    /* ticks of the cache */

byte drift = 1;                    /* 1: the clocks agree */
byte age[CALLS + 1];               /* ticks of the cache since a call has asked the database */
byte since = 255;                  /* ticks of the cache since the first bar; 255: no change is under way */
byte told, runs, ended, lostBars = LOST_BARS, lostCommits = LOST_COMMITS;
bool unsettled;

inline tell(r) { check(SAME, told == 0 || told == r); told = r }

inline forgetPromise() { done = false; by = 0; left = 0; told = 0; runs = 0 }

inline put(result, rest) {
  if
  :: (cache == EMPTY || cache == BARRED && WEAK == COPY_OVER_BAR) &&
     (age[me] <= OLDEST || WEAK == COPY_OF_ANY_AGE) &&
     rest > MARGIN + (WEAK == AGE_NOT_COUNTED || WEAK == COPY_OF_ANY_AGE -> 0 : age[me]) ->
     cache = COPY; copyOf = result;
     copyLeft = rest - MARGIN - (WEAK == AGE_NOT_COUNTED || WEAK == COPY_OF_ANY_AGE -> 0 : age[me])
  :: else -> skip
  fi
}

proctype Call(byte me) {
  byte result, rest;

  atomic {                         /* ask */
    if
    :: cache == COPY -> check(FRESH, done && by == copyOf); tell(copyOf); goto end
    :: skip                        /* a miss, silence, or not worth asking */
    fi
  };
  age[me] = 0;                     /* cache.time() */
  if
  :: WEAK == COPY_BEFORE_COMMIT -> atomic { if :: !done -> put(me, RETENTION) :: else -> skip fi }; if :: goto end :: skip fi
  :: else -> skip
  fi;
  atomic {                         /* the database */
    if
    :: done && WEAK != MISS_IS_ABSENT -> result = by; rest = left
    :: else -> done = true; by = me; left = RETENTION; runs++; result = me; rest = RETENTION; check(ONE, runs <= 1)
    fi;
    tell(result)
  };
  if :: goto end :: skip fi;       /* dead, or too many copies wait */
  atomic { put(result, rest) };
end:
  atomic { age[me] = OLDEST + 1; result = 0; rest = 0; ended++ }
}

inline bar() { cache = BARRED; copyOf = 0; copyLeft = 0; barLeft = BAR }

proctype Forget() {
  atomic {
    if
    :: WEAK != NO_BAR && WEAK != BAR_AFTER_ONLY -> bar()
    :: WEAK == NO_BAR || WEAK == BAR_AFTER_ONLY -> skip
    :: goto end                    /* the cache is silent: nothing has changed */
    fi;
    since = 0
  };
  atomic { forgetPromise() };
  atomic {
    if
    :: WEAK != NO_BAR && WEAK != BAR_BEFORE_ONLY -> bar()
    :: WEAK == NO_BAR || WEAK == BAR_BEFORE_ONLY -> skip
    :: unsettled = since > HOLDS   /* silent: if the first bar may be over, the operator is told to forget the record again */
    fi
  };
end:
  atomic { since = 255; ended++ }
}

#define CHANGE_MUST_COME (since != 255 && since >= HOLDS && !LONG_PAUSES)

proctype Clocks() {
  byte i;
  do
  :: d_step {
       ended < CALLS + FORGETS && drift < 2 -> drift++;
       left = (left > 0 -> left - 1 : 0);
       if
       :: done && left == 0 -> forgetPromise()
       :: else -> skip
       fi
     }
  :: d_step {
       ended < CALLS + FORGETS && drift > 0 && !CHANGE_MUST_COME -> drift--;
       i = 1;
       do
       :: i <= CALLS -> age[i] = (age[i] <= OLDEST -> age[i] + 1 : age[i]); i++
       :: else -> i = 0; break
       od;
       since = (since < 2 -> since + 1 : since);
       copyLeft = (copyLeft > 0 -> copyLeft - 1 : 0);
       barLeft = (barLeft > 0 -> barLeft - 1 : 0);
       if
       :: cache == COPY && copyLeft == 0 || cache == BARRED && barLeft == 0 -> cache = EMPTY; copyOf = 0
       :: else -> skip
       fi
     }
  :: d_step { ended < CALLS + FORGETS && cache == COPY -> cache = EMPTY; copyOf = 0; copyLeft = 0 }
  :: d_step { cache == BARRED && lostBars > 0 -> lostBars--; cache = EMPTY; barLeft = 0 }
  :: d_step { done && lostCommits > 0 -> lostCommits--; forgetPromise() }
  :: ended == CALLS + FORGETS -> break
  od
}

init {
  byte n = 1;
  atomic {
    do
    :: n <= CALLS -> age[n] = OLDEST + 1; run Call(n); n++
    :: else -> break
    od;
    n = 0;
    do
    :: n < FORGETS -> run Forget(); n++
    :: else -> n = 0; break
    od;
    run Clocks()
  };
  ended == CALLS + FORGETS;
  check(SETTLED, unsettled || cache != COPY || done && by == copyOf)
}
