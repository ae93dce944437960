/* EXACTLY_ONCE: claim, work and DONE are one transaction of one database.
 *
 * One key, CALLS calls of it, LEASED_CALLS of a node that still runs the operation under a leased guarantee, and one call more
 * after everything else has ended. The variables are what is committed; what a transaction has written and not committed is the
 * lock that it holds. A dead process keeps its locks until the database drops its session, whenever that is. */

#include "properties.h"

#define JOINED    1                /* PostgreSQL */
#define BY_INSERT 2                /* joined on H2, MariaDB and MySQL; on PostgreSQL where no result is kept */
#define SEPARATE  3                /* a committed placeholder that the transaction locks */
#ifndef MODE
#define MODE JOINED
#endif
#define AT_LEAST_ONCE 1
#define AT_MOST_ONCE  2
#ifndef LEASED_GUARANTEE
#define LEASED_GUARANTEE AT_MOST_ONCE
#endif
#ifndef CALLS
#define CALLS 2
#endif
#ifndef LEASED_CALLS
#define LEASED_CALLS 0
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef SILENCES           /* how many answers are lost: of a commit, or of the storing of a refusal */
#define SILENCES 1
#endif
#ifndef TROUBLES           /* how many times the work throws, is refused (a 4xx after a rollback), or a commit conflicts */
#define TROUBLES 1
#endif
#ifndef EXPIRY
#define EXPIRY 1
#endif

#define NO_KEY_LOCK              1
#define RESULT_OVER_ALL          2
#define NEITHER_LOCK_NOR_INDEX   3
#define LOCK_BEFORE_DONE         4
#define DO_NOTHING               5
#define PLAIN_UPDATE             6
#define ROW_BACK_IS_OWN          7
#define PLACEHOLDER_IS_BUSY      8
#define TIDIES_ANYTHING          9
#define REFUSAL_OVER_ALL        10
#define PROBE_WITHOUT_LOCK      11
#define PURGE_IN_TWO            12
#define PURGE_OF_PROCESSING     13
#define DONE_AFTER_COMMIT       14
#define DONE_BEFORE_COMMIT      15
#define DUPLICATE_CAUGHT        16
#define ANSWER_BEFORE_COMMIT    17
#define LEASED_ROW_IS_FREE      18

#define LAST  (CALLS + LEASED_CALLS + 1)
#define PURGE (LAST + 1)
#define REFUSAL(call) (LAST + call)

mtype = { ABSENT, PROCESSING, DONE };

/* Committed. */
mtype state = ABSENT;
byte owner, result;
bool leased, over, expired;        /* over: the lease; expired: past expires_at as well */

/* Of running transactions. */
byte keylock;                      /* the advisory lock on the key */
byte rowlock;                      /* who has locked the row */
byte inserting;                    /* who has inserted the id */

/* What is really so. */
byte outcomes, told;               /* committed effects and stored refusals, within the retention */
bool did[REFUSAL(LAST) + 1];
bool running[LAST + 1], probing[LAST + 1], inDoubt[LAST + 1], calledOff[LAST + 1];
bool finished[LAST + 1];           /* whether a result was committed when the call came, and has not expired since */

byte crashes = CRASHES, silences = SILENCES, troubles = TROUBLES, ended;
bool draining, answered, served;

#define IN_TROUBLE (troubles > 0 && !FAULTS_SPARE_ME)

#define LIVE_DONE   (state == DONE && !expired)
#define PLACEHOLDER (state == PROCESSING && !leased)
#define LEASE_RUNS  (state == PROCESSING && leased && !over)
#define VANISHED    (state == PROCESSING && leased && over && !expired)
#define FREE_ROW    (state == DONE && expired || \
  PLACEHOLDER && WEAK != PLACEHOLDER_IS_BUSY || state == PROCESSING && leased && expired || \
  VANISHED && LEASED_GUARANTEE == AT_LEAST_ONCE || LEASE_RUNS && WEAK == LEASED_ROW_IS_FREE)

#define KEY_IS_LOCKED (WEAK != NO_KEY_LOCK && WEAK != NEITHER_LOCK_NOR_INDEX && WEAK != DUPLICATE_CAUGHT)
#define OVERWRITES  (state == DONE && expired && WEAK != DO_NOTHING || \
  WEAK == RESULT_OVER_ALL || WEAK == NEITHER_LOCK_NOR_INDEX)

inline put(newState, newOwner, newResult, isLeased) {
  state = newState; owner = newOwner; result = newResult; leased = isLeased; over = false; expired = false
}

inline remove() { state = ABSENT; owner = 0; result = 0; leased = false; over = false; expired = false }

inline unlock() {
  keylock = (keylock == me -> 0 : keylock);
  rowlock = (rowlock == me -> 0 : rowlock);
  inserting = (inserting == me -> 0 : inserting)
}

inline tell(r) {
  check(TRUE, did[r]);
  check(SAME, told == 0 || told == r);
  told = r;
  answered = true;
  served = served || me == 1
}

inline count(r) { outcomes++; did[r] = true; check(ONE, outcomes <= 1) }

inline commit() {
  check(VERDICT, !calledOff[me]);
  if
  :: WEAK == DONE_AFTER_COMMIT || WEAK == DONE_BEFORE_COMMIT -> skip
  :: else -> put(DONE, me, me, false)
  fi;
  count(me);
  unlock()
}

inline busy() { check(FINISHED, !finished[me]) }

/* What a row says that is not free; the transaction is rolled back then. */
inline answer() {
  if
  :: LIVE_DONE -> tell(result)
  :: VANISHED -> answered = true; served = served || me == 1   /* outcome unknown */
  :: else -> busy()
  fi
}

/* A commit whose answer is lost: the server does it, or drops the session, at some time. */
proctype Commit(byte me) {
  if
  :: atomic { commit(); inDoubt[me] = false }
  :: atomic { unlock(); inDoubt[me] = false }
  fi
}

inline crash() { atomic { MAY_CRASH -> crashes--; goto dropped } }

inline tidyUp() {                  /* removePlaceholder */
  atomic {
    if
    :: PLACEHOLDER && rowlock == 0 || WEAK == TIDIES_ANYTHING && state != ABSENT && rowlock == 0 -> remove()
    :: else -> skip
    fi
  }
}

proctype Call(byte me) {
  bool locked = false, took = false, sawRow = false, again = false;

  finished[me] = LIVE_DONE;

begin:
  if
  :: MODE == JOINED    -> goto joined
  :: MODE == BY_INSERT -> goto byInsert
  :: MODE == SEPARATE  -> skip
  fi;
  atomic {                         /* beforeTransaction */
    if
    :: state == ABSENT && inserting == 0 -> put(PROCESSING, 0, 0, false)
    :: state == ABSENT && inserting != 0 -> skip
    :: state != ABSENT && (FREE_ROW || PLACEHOLDER) -> skip
    :: state != ABSENT && !FREE_ROW && !PLACEHOLDER -> answer(); goto end
    fi
  };
  if :: crash() :: skip fi;
  atomic {                         /* takeInTransaction: for update skip locked, without a filter on the state */
    if
    :: state != ABSENT && rowlock == 0 -> rowlock = me;
       if
       :: FREE_ROW || WEAK == ROW_BACK_IS_OWN -> took = true; goto work
       :: else -> skip
       fi
    :: else -> skip
    fi
  };
  atomic {
    if
    :: LIVE_DONE || LEASE_RUNS || VANISHED && !FREE_ROW -> answer(); goto undo
    :: else -> skip
    fi
  };
  atomic { unlock() };             /* contended: rolled back, then one more look */
  atomic {
    if
    :: state == ABSENT && !again -> again = true; goto begin
    :: else -> answer(); goto end
    fi
  };

byInsert:
  atomic {                         /* for update skip locked */
    if
    :: state != ABSENT && rowlock == 0 -> rowlock = me;
       if
       :: FREE_ROW || WEAK == ROW_BACK_IS_OWN -> took = true; goto work
       :: else -> answer(); goto undo
       fi
    :: else -> skip
    fi
  };
  atomic {                         /* insert, without waiting */
    if
    :: state == ABSENT && inserting == 0 -> inserting = me; goto work
    :: else -> skip
    fi
  };
  atomic { answer() };
  goto undo;

joined:
  atomic {                         /* pg_try_advisory_xact_lock */
    if
    :: !KEY_IS_LOCKED -> locked = true
    :: KEY_IS_LOCKED && keylock == 0 -> keylock = me; locked = true
    :: KEY_IS_LOCKED && keylock != 0 -> skip
    fi
  };
  if :: crash() :: skip fi;
  atomic {                         /* the read; the row comes first */
    sawRow = (state != ABSENT);
    if
    :: WEAK == LOCK_BEFORE_DONE && !locked -> busy(); goto undo
    :: WEAK != LOCK_BEFORE_DONE && !locked || locked ->
       if
       :: state != ABSENT && !FREE_ROW -> answer(); goto undo
       :: else -> skip
       fi;
       if
       :: !locked -> busy(); goto undo
       :: locked && state != PROCESSING -> goto work
       :: locked && state == PROCESSING -> skip
       fi
    fi
  };
  atomic {                         /* take */
    if
    :: state != ABSENT && FREE_ROW && rowlock == 0 -> rowlock = me; took = true
    :: else -> busy(); goto undo
    fi
  };

work:
  if
  :: crash()
  :: atomic { IN_TROUBLE -> troubles--; goto threw }
  :: atomic { IN_TROUBLE -> troubles--; goto refused }
  :: skip
  fi;

  atomic {                         /* completeInTransaction; a row or an id that another transaction holds is waited for */
    (rowlock == 0 || rowlock == me) && (inserting == 0 || inserting == me);
    if
    :: took || inserting == me -> skip
    :: !took && inserting != me && state == ABSENT && !(WEAK == PLAIN_UPDATE && sawRow) -> inserting = me
    :: !took && inserting != me && state != ABSENT && OVERWRITES -> rowlock = me
    :: else ->
       check(LOSER, LIVE_DONE || state == PROCESSING && leased && !expired);
       if
       :: WEAK == DUPLICATE_CAUGHT -> unlock(); tell(me); goto end
       :: else -> unlock(); goto outdone
       fi
    fi
  };

  if
  :: WEAK == ANSWER_BEFORE_COMMIT -> atomic { tell(me) }
  :: WEAK == DONE_BEFORE_COMMIT -> atomic { put(DONE, me, me, false) }
  :: else -> skip
  fi;

  atomic {
    if
    :: commit(); if :: WEAK != DONE_AFTER_COMMIT && WEAK != ANSWER_BEFORE_COMMIT -> tell(me) :: else -> skip fi
    :: MAY_BE_SILENT -> silences--; inDoubt[me] = true; probing[me] = true; run Commit(me); goto probe
    :: MAY_CRASH -> crashes--; inDoubt[me] = true; run Commit(me); goto end
    :: MAY_CRASH -> crashes--; goto dropped
    :: IN_TROUBLE -> troubles--; unlock(); goto outdone
    fi
  };
  if
  :: WEAK == DONE_AFTER_COMMIT ->
     if :: crash() :: skip fi;
     atomic { put(DONE, me, me, false); tell(me) }
  :: else -> skip
  fi;
  goto end;

outdone:                           /* rolled back although the work ran: only a finished winner is an answer */
  atomic {
    if
    :: LIVE_DONE -> tell(result)
    :: else -> skip
    fi
  };
  goto tidy;

probe:
  do
  :: goto end                      /* not found out in time: 503 */
  :: atomic { MODE == JOINED && keylock == 0 || WEAK == PROBE_WITHOUT_LOCK -> break }
  :: atomic { MODE != JOINED && state == DONE && owner == me -> break }
  :: atomic { MODE != JOINED && (state != ABSENT && rowlock == 0 || state == ABSENT && inserting == 0) -> break }
  od;
  atomic {
    if
    :: state == DONE && owner == me -> tell(me); goto end
    :: else -> check(VERDICT, !inDoubt[me]); calledOff[me] = true; goto tidy
    fi
  };

refused:
  atomic { unlock() };
  if :: MODE == SEPARATE -> tidyUp() :: else -> skip fi;
  atomic {                         /* recordDone, straight to DONE; what cannot be stored is told unstored */
    if
    :: MAY_BE_SILENT -> silences--; goto end
    :: WEAK == REFUSAL_OVER_ALL && inserting == 0 && rowlock == 0 -> skip
    :: WEAK != REFUSAL_OVER_ALL && LIVE_DONE -> tell(result); goto end
    :: WEAK != REFUSAL_OVER_ALL && !LIVE_DONE && MODE == JOINED && keylock != 0 -> goto end
    :: WEAK != REFUSAL_OVER_ALL && !(MODE == JOINED && keylock != 0) && state == ABSENT && inserting == 0 -> skip
    :: WEAK != REFUSAL_OVER_ALL && !(MODE == JOINED && keylock != 0) && state != ABSENT && FREE_ROW && !VANISHED && rowlock == 0 -> skip
    :: else -> goto end
    fi;
    put(DONE, me, REFUSAL(me), false);
    count(REFUSAL(me));
    if
    :: MAY_BE_SILENT -> silences--
    :: tell(REFUSAL(me))
    fi
  };
  goto end;

threw:
  atomic { unlock() };
tidy:
  if :: MODE == SEPARATE -> tidyUp() :: else -> skip fi;
  goto end;

dropped:                           /* the process is dead; now the database notices */
undo:
  atomic { unlock() };
end:
  if
  :: FAULTS_SPARE_ME && !served -> locked = false; took = false; sawRow = false; again = false; goto begin
  :: else -> skip
  fi;
  atomic { probing[me] = false; ended++ }
}

/* Another guarantee on the same key, as in a rolling deployment: its claim and its completion are steps of their own. */
proctype Leased(byte me) {
  finished[me] = LIVE_DONE;
  atomic {
    if
    :: MODE == JOINED && keylock != 0 && !LIVE_DONE -> busy(); goto end
    :: !(MODE == JOINED && keylock != 0 && !LIVE_DONE) ->
       if
       :: state == ABSENT && inserting == 0 || state != ABSENT && FREE_ROW && rowlock == 0 -> put(PROCESSING, me, 0, true); running[me] = true
       :: else -> if :: state != ABSENT -> answer() :: else -> skip fi; goto end
       fi
    fi
  };
  if :: atomic { MAY_CRASH -> crashes--; goto end } :: skip fi;
  atomic {
    if
    :: LEASED_GUARANTEE == AT_MOST_ONCE -> count(me)
    :: else -> did[me] = true
    fi
  };
  if :: atomic { MAY_CRASH -> crashes--; goto end } :: skip fi;
  atomic {
    rowlock == 0;
    if
    :: state == PROCESSING && owner == me && !expired -> put(DONE, me, me, false); tell(me)
    :: LIVE_DONE -> tell(result)
    :: else -> skip
    fi
  };
end:
  atomic { running[me] = false; ended++ }
}

proctype Purge() {
  do
  :: atomic {                      /* select … for update skip locked */
       !draining && rowlock == 0 && state != ABSENT &&
       (expired && !LEASE_RUNS || WEAK == PURGE_OF_PROCESSING && state == PROCESSING) ->
       if
       :: WEAK == PURGE_IN_TWO -> skip
       :: else -> rowlock = PURGE
       fi
     };
     atomic {                      /* delete */
       rowlock == PURGE || WEAK == PURGE_IN_TWO && rowlock == 0;
       check(KEPT, expired && !LEASE_RUNS);
       remove(); rowlock = 0
     }
  :: draining -> break
  od
}

inline forgetPromise() {
  byte i;
  d_step {
    expired = true; outcomes = 0; told = 0;
    i = 0;
    do
    :: i <= LAST -> finished[i] = false; i++
    :: else -> i = 0; break
    od
  }
}

proctype Clock() {
  do
  :: atomic { EXPIRY && !draining && LIVE_DONE && !probing[owner] -> forgetPromise() }
  :: atomic { EXPIRY && !draining && PLACEHOLDER && !expired -> expired = true }
  :: atomic { !draining && LEASE_RUNS -> over = true }
  :: atomic { EXPIRY && !draining && VANISHED && !running[owner] -> forgetPromise() }
  :: draining -> break
  od
}

init {
  byte n = 1;
  atomic {
    if                             /* what may stand there from before */
    :: skip
    :: put(DONE, 0, 0, false); expired = true
    :: put(PROCESSING, 0, 0, false)
    fi;
    do
    :: n <= CALLS -> run Call(n); n++
    :: else -> break
    od;
    do
    :: n <= CALLS + LEASED_CALLS -> run Leased(n); n++
    :: else -> break
    od;
    run Clock();
    run Purge()
  };
  atomic {
    ended == CALLS + LEASED_CALLS && rowlock == 0 && keylock == 0 && inserting == 0;
    draining = true; crashes = 0; silences = 0; troubles = 0; answered = false;
    over = leased;
    run Call(LAST)
  };
  ended == LAST;
  check(LOST, answered)
}

#if LIVE
ltl live { <> served }
#endif
