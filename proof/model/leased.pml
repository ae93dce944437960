/* AT_LEAST_ONCE and AT_MOST_ONCE: claim, work and completion are three steps, and a lease tells when an owner has vanished.
 *
 * One key, CALLS calls of it, each with an owner of its own (its number), and one call more after everything else has ended.
 * Every step on the store is atomic; its answer may be lost, before or after it has happened (SILENCES), and a process may die
 * after every step (CRASHES). The store's clock ticks whenever it likes, so that no proof rests on how long a step takes. */

#include "properties.h"

#define AT_LEAST_ONCE 1
#define AT_MOST_ONCE  2
#ifndef GUARANTEE
#define GUARANTEE AT_LEAST_ONCE
#endif
#ifndef CALLS
#define CALLS 3
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef SILENCES
#define SILENCES 1
#endif
#ifndef THROWS             /* how many times the work throws: harmless before its effect, or ambiguous */
#define THROWS 1
#endif
#ifndef REDIS              /* an expired record is gone; in a database its row stays until it is purged */
#define REDIS 0
#endif
#ifndef EXPIRY             /* whether retention ends in this run */
#define EXPIRY 1
#endif
#ifndef RESOLVERS
#define RESOLVERS 0
#endif
#ifndef GIVES_UP           /* whether a completion that is not answered is given up in the end */
#define GIVES_UP 0
#endif
#ifndef FLUSHES            /* how many times the store loses what it has acknowledged */
#define FLUSHES 0
#endif
#ifndef LONG_PAUSES        /* whether an owner may pause for longer than lease and retention together */
#define LONG_PAUSES 0
#endif
#ifndef GULLIBLE           /* whether a resolver takes an owner for dead that only pauses */
#define GULLIBLE 0
#endif
#ifndef LATE_FOR_EVER      /* whether a claim may arrive at the store more than a lease after it was sent */
#define LATE_FOR_EVER 0
#endif

#define COMPLETE_OF_ANYBODY    1
#define OWN_RESULT_WHEN_LOST   2
#define RECORD_DONE_OVER_ALL   3
#define RELEASE_OF_ANYBODY     4
#define RELEASE_WHEN_AMBIGUOUS 5
#define TAKEOVER_UNCHECKED     6
#define TAKEOVER_OF_DONE       7
#define APPLICATION_CLOCK      8
#define KEY_LIVES_A_LEASE      9
#define RENEWAL_OF_ANYBODY     10
#define RENEWAL_OF_DONE        11
#define PURGE_OF_PROCESSING    12
#define NO_SWEEP               13
#define ONE_SWEEP              14
#define OWN_CLAIM_NOT_KNOWN    15
#define PROCESSING_IS_SUCCESS  16
#define EXPIRED_ROW_STAYS      17
#define RESOLVED_BY_FORGETTING 18
#define RESOLVER_OF_ANYBODY    19
#define OWN_RESULT_WHEN_SILENT 20
#define DONE_BEFORE_WORK       21
#define ABANDONED_IS_BUSY      22

#define LEASE     1
#define RETENTION 1
#define HOLD      (LEASE + RETENTION)
#define LAST      (CALLS + 1)
#define FACT      (LAST + RESOLVERS + 1)   /* the result of a resolver: the work was done, there is nothing to replay */

mtype = { ABSENT, PROCESSING, DONE };

mtype state = ABSENT;
byte owner, result;
byte left;                         /* ticks until it is expired; a lease ends RETENTION before that */
#define EXPIRED   (state != ABSENT && left == 0)
#define LEASED    (state == PROCESSING && left > RETENTION)
#define ABANDONED (state == PROCESSING && left <= RETENTION && left > 0)

/* What is really so, whatever the record says. */
byte due;                          /* ticks until the promise of the guarantee ends */
byte silent;                       /* ticks since the owner's last sign of life */
byte effects, takeovers, told;     /* within the promise */
bool did[FACT + 1], running[FACT + 1];
bool unsure;                       /* somebody died or threw after he had the key: nobody can know */
byte age[FACT + 1];                /* ticks since a claim was sent */

byte crashes = CRASHES, silences = SILENCES, throws = THROWS, flushes = FLUSHES, ended, resolved;
bool draining, answered, served;
byte renewals = 1;                 /* under LIVE: an owner that renews for ever is one that works for ever */

#define MAY_THROW (throws > 0 && !FAULTS_SPARE_ME)

inline put(newState, newOwner, newResult, newLeft) {
  state = newState; owner = newOwner; result = newResult; left = newLeft; due = newLeft; silent = 0
}

inline remove() { state = ABSENT; owner = 0; result = 0; left = 0; silent = 0 }

inline grant() { put(PROCESSING, me, 0, HOLD); running[me] = true }

/* A success that a client is told. */
inline tell(r) {
  served = served || me == 1;
  check(TRUE, did[r]);
  check(SAME, told == 0 || told == r);
  told = r;
  answered = true
}

inline replay() {
  if
  :: result == FACT -> answered = true; served = served || me == 1
  :: else -> tell(result)
  fi
}

inline crash() {
  atomic {
    MAY_CRASH && !draining ->
    crashes--; unsure = unsure || running[me]; running[me] = false; goto end
  }
}

inline renew() {
  atomic {
    !draining && (!LIVE || renewals > 0) ->
    renewals = (LIVE -> renewals - 1 : renewals);
    if
    :: state == PROCESSING && owner == me && !EXPIRED -> left = HOLD; due = HOLD; silent = 0
    :: WEAK == RENEWAL_OF_ANYBODY && state == PROCESSING && owner != me -> left = HOLD
    :: WEAK == RENEWAL_OF_DONE && state == DONE && owner == me -> left = HOLD
    :: else -> skip
    fi
  }
}

#define MAY_TAKE_OVER (seen != 0 && owner == seen && ABANDONED || \
  WEAK == TAKEOVER_UNCHECKED && seen != 0 && state == PROCESSING || \
  WEAK == TAKEOVER_OF_DONE && seen != 0 && owner == seen && left <= RETENTION && state != ABSENT || \
  WEAK == APPLICATION_CLOCK && owner == seen && state == PROCESSING)

#define OWN (state != ABSENT && owner == me && !EXPIRED)

proctype Call(byte me) {
  byte seen = 0;
  bool late = false;

look:                              /* insertOrRead; SET NX GET */
  atomic {
    if
    :: state == ABSENT -> grant(); goto work
    :: state == ABSENT && MAY_BE_SILENT -> silences--; grant(); goto unknown
    :: state == ABSENT && MAY_BE_SILENT -> silences--; grant()      /* the driver sends it again */
    :: MAY_BE_SILENT -> silences--; late = true; goto unknown
    :: EXPIRED && WEAK != EXPIRED_ROW_STAYS -> skip
    :: EXPIRED && WEAK == EXPIRED_ROW_STAYS -> goto end
    :: state == DONE && !EXPIRED -> replay(); goto end
    :: LEASED && WEAK == PROCESSING_IS_SUCCESS -> tell(owner); goto end
    :: LEASED && WEAK != APPLICATION_CLOCK && owner != me -> check(NOTICED, silent < LEASE); goto end
    :: LEASED && owner == me && WEAK == OWN_CLAIM_NOT_KNOWN -> running[me] = false; goto end
    :: LEASED && owner == me && WEAK != OWN_CLAIM_NOT_KNOWN -> goto work
    :: (ABANDONED || LEASED && WEAK == APPLICATION_CLOCK) && owner != me ->
       if
       :: WEAK == ABANDONED_IS_BUSY -> goto end
       :: GUARANTEE == AT_MOST_ONCE && WEAK != APPLICATION_CLOCK && WEAK != ABANDONED_IS_BUSY ->
          check(LOST, unsure || !draining); answered = true; served = served || me == 1; goto end
       :: else -> seen = owner
       fi
    :: ABANDONED && owner == me -> goto work
    fi
  }

  if :: crash() :: skip fi;

  atomic {                         /* take; claim.lua with the owner that was seen */
    if
    :: EXPIRED || (state == ABSENT && REDIS) -> grant(); goto work
    :: MAY_TAKE_OVER ->
       check(PATIENT, silent >= LEASE);
       takeovers++; grant(); goto work
    :: else -> seen = 0; goto look
    fi
  }

unknown:                           /* the answer of the claim is lost: 503, and the sweeper goes to work */
  age[me] = 0;
  if :: WEAK == NO_SWEEP -> running[me] = false; goto end :: else -> skip fi;
sweep:
  do
  :: atomic { late && (age[me] < LEASE || LATE_FOR_EVER) -> late = false; if :: state == ABSENT -> grant() :: else -> skip fi }
  :: atomic {
       true;                       /* so that the else below does not mean: if nothing else can be done */
       if
       :: state == PROCESSING && (owner == me || WEAK == RELEASE_OF_ANYBODY) -> remove(); due = 0
       :: else -> skip
       fi;
       if
       :: age[me] >= LEASE || WEAK == ONE_SWEEP -> break
       :: else -> skip
       fi
     }
  :: crash()
  od;
  running[me] = false;
  if
  :: atomic { late && (age[me] < LEASE || LATE_FOR_EVER) && state == ABSENT -> grant(); running[me] = false }
  :: skip
  fi;
  goto end;

work:
  if
  :: WEAK == DONE_BEFORE_WORK -> atomic { if :: state == PROCESSING && owner == me -> put(DONE, me, me, RETENTION) :: else -> skip fi }
  :: else -> skip
  fi;
  do
  :: renew()
  :: crash()
  :: atomic { MAY_THROW && !draining -> throws--; goto release }                        /* harmless: nothing was done */
  :: atomic { MAY_THROW && !draining && WEAK != RELEASE_WHEN_AMBIGUOUS -> throws--; unsure = true; goto end }
  :: break
  od;

  atomic { effects++; did[me] = true; check(ONE, effects <= 1); check(COUNTED, effects <= 1 + takeovers) };

  do
  :: renew()
  :: crash()
  :: atomic { MAY_THROW && !draining -> throws--;
       if
       :: WEAK == RELEASE_WHEN_AMBIGUOUS -> goto release
       :: else -> unsure = true; goto end
       fi }
  :: break
  od;

complete:
  atomic {
    if
    :: MAY_BE_SILENT -> silences--;
       if
       :: OWN && state == PROCESSING -> put(DONE, me, me, RETENTION)
       :: skip
       fi;
       if
       :: GIVES_UP -> unsure = true; tell(me); goto end
       :: else -> goto complete
       fi
    :: OWN && state == PROCESSING -> put(DONE, me, me, RETENTION); tell(me)
    :: OWN && state == DONE -> tell(me)
    :: !OWN && WEAK == COMPLETE_OF_ANYBODY && state != ABSENT -> put(DONE, me, me, RETENTION); tell(me)
    :: !OWN && !(WEAK == COMPLETE_OF_ANYBODY && state != ABSENT) ->
       if
       :: WEAK == OWN_RESULT_WHEN_LOST -> tell(me); goto end
       :: else -> goto lost
       fi
    fi
  };
  if :: renew() :: skip fi;        /* one that was on its way */
  goto end;

lost:
  if :: crash() :: skip fi;
  atomic {                         /* recordDone */
    if
    :: MAY_BE_SILENT -> silences--;
       if
       :: state == ABSENT || EXPIRED -> put(DONE, me, me, RETENTION)
       :: skip
       fi;
       if
       :: WEAK == OWN_RESULT_WHEN_SILENT -> tell(me)
       :: else -> skip             /* 503 */
       fi
    :: state == ABSENT || EXPIRED || WEAK == RECORD_DONE_OVER_ALL -> put(DONE, me, me, RETENTION); tell(me)
    :: state == DONE && !EXPIRED && WEAK != RECORD_DONE_OVER_ALL -> replay()
    :: state == PROCESSING && !EXPIRED && WEAK != RECORD_DONE_OVER_ALL -> skip
    fi
  };
  goto end;

release:
  if :: crash() :: skip fi;
  atomic {
    if
    :: state == PROCESSING && (owner == me || WEAK == RELEASE_OF_ANYBODY) ->
       if
       :: MAY_BE_SILENT -> silences--; age[me] = LEASE; goto sweep
       :: remove(); due = 0
       fi
    :: else -> skip
    fi
  };

end:
  if
  :: FAULTS_SPARE_ME && !served -> running[me] = false; seen = 0; goto look
  :: else -> skip
  fi;
  atomic { running[me] = false; ended++ }
}

/* An operator, or a reconciler: asks what became of the work, takes the record over from the owner it has seen, and decides. */
proctype Resolver(byte me) {
  byte seen = 0, i = 1;
  bool executed, atWork;
  atomic {
    ABANDONED || ended == CALLS;
    if
    :: !ABANDONED -> goto end
    :: else -> seen = owner
    fi;
    do
    :: i <= CALLS -> atWork = atWork || running[i]; i++
    :: else -> break
    od;
    executed = effects > 0;
    if
    :: executed || !atWork || GULLIBLE -> skip
    :: else -> goto end            /* still unknown */
    fi
  };
  atomic {
    if
    :: WEAK == RESOLVED_BY_FORGETTING -> if :: !executed -> remove(); due = 0 :: else -> skip fi; goto end
    :: WEAK != RESOLVED_BY_FORGETTING && ABANDONED && (owner == seen || WEAK == RESOLVER_OF_ANYBODY) -> put(PROCESSING, me, 0, HOLD)
    :: else -> goto end
    fi
  };
  if
  :: atomic { crashes > 0 -> crashes--; unsure = true }; goto end
  :: skip
  fi;
  atomic {
    if
    :: OWN && state == PROCESSING && executed -> put(DONE, me, FACT, RETENTION)
    :: OWN && state == PROCESSING && !executed -> remove(); due = 0
    :: else -> skip
    fi
  };
end:
  resolved++
}

proctype Purge() {
  do
  :: atomic {
       EXPIRED || WEAK == PURGE_OF_PROCESSING && state == PROCESSING ->
       check(KEPT, EXPIRED && !LEASED);
       remove()
     }
  :: draining -> break
  od
}

#define OWNER_AT_WORK (state == PROCESSING && running[owner])

inline tick() {
  byte i;
  d_step {
    i = 1;
    do
    :: i <= LAST -> if :: age[i] < LEASE -> age[i]++ :: else -> skip fi; i++
    :: else -> break
    od;
    i = 0;
    silent = (state == PROCESSING && silent < LEASE -> silent + 1 : silent);
    check(SPAN, state == ABSENT || left == due);
    due = (due > !EXPIRY -> due - 1 : due);
    left = (left > !EXPIRY -> left - 1 : left);
    if
    :: due == 0 -> effects = 0; takeovers = 0; told = 0
    :: else -> skip
    fi;
    if
    :: REDIS && left == 0 || WEAK == KEY_LIVES_A_LEASE && state == PROCESSING && left == RETENTION -> remove()
    :: else -> skip
    fi
  }
}

proctype Clock() {
  do
  :: atomic { !draining && (left != 1 || !EXPIRY || LONG_PAUSES || !OWNER_AT_WORK) -> tick() }
  :: atomic { flushes > 0 && state != ABSENT && !draining -> flushes--; remove() }
  :: draining -> break
  od
}

init {
  byte n = 1;
  atomic {
    do
    :: n <= CALLS -> run Call(n); n++
    :: else -> break
    od;
    n = 0;
    do
    :: n < RESOLVERS -> n++; run Resolver(LAST + n)
    :: else -> break
    od;
    run Clock();
    if :: !REDIS -> run Purge() :: else -> skip fi
  };
  ended == CALLS && resolved == RESOLVERS;
  atomic {
    draining = true; silences = 0; answered = false;
    left = (LEASED -> RETENTION : left);
    silent = (state == PROCESSING -> LEASE : silent);
    run Call(LAST)
  };
  ended == LAST;
  check(LOST, answered)
}

#if LIVE
ltl live { <> served }
#endif
