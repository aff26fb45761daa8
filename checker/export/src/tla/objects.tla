\* ---- mbarrier objects: PTX ISA, sections on mbarrier and on asynchronous copies with complete_tx -------------

\* due: arrivals that the next phase expects; missing, bytes: what the present phase still waits for, bytes below 0 where
\* more have come than were announced; odd: the parity of the present phase; seen: some wait has seen the one before
\* complete. A token says how long ago its phase is.
Dead == [live |-> FALSE, due |-> 0, missing |-> 0, bytes |-> 0, odd |-> 0, seen |-> FALSE]
Fresh(count) == [live |-> TRUE, due |-> count, missing |-> count, bytes |-> 0, odd |-> 0, seen |-> TRUE]
MostBytes == 1048575
OfToken == 2
Signed(row) == IF row.delivers = 1 THEN 0 - row.bytes ELSE row.bytes
Aged(token) == CASE token = "present" -> "before" [] token \in {"before", "stale"} -> "stale" [] OTHER -> token

\* The next phase begins; those who wait go on.
CompletePhase(t, b) ==
  LET waiting == Waiting(t, b)
      next == [t.objects[b] EXCEPT !.missing = t.objects[b].due, !.odd = 1 - @, !.seen = waiting # {}]
      t2 == [t EXCEPT !.objects[b] = next, !.tokens = TLCEval([a \in Agents |-> [@[a] EXCEPT ![b] = Aged(@)]])]
  IN Release(PassBoth(HandOn(t2, b), Phases(b), {Agent(a) : a \in waiting}), b, 0)

\* Arrivals that are made and bytes that are announced or, below 0, delivered are counted: the phase may be complete.
\* `may` says whether the phase may be complete by that.
CountIn(t, b, made, more, may) ==
  LET o == t.objects[b]
      p == [o EXCEPT !.missing = @ - made, !.bytes = @ + more]
      t2 == [t EXCEPT !.objects[b] = p]
  IN IF made > 0 /\ ~o.seen THEN End(t, "unobserved_phase")
     ELSE IF made > o.missing THEN End(t, "over_arrival")
     ELSE IF p.bytes > MostBytes \/ p.bytes < 0 - MostBytes THEN End(t, "tx_range")
     ELSE IF p.missing > 0 \/ p.bytes > 0 THEN t2
     ELSE IF p.bytes < 0 THEN End(t, "over_delivery")
     ELSE IF ~may THEN End(t, "no_complete")
     ELSE CompletePhase(t2, b)

\* The life of an object begins or ends: nobody can wait for what a token names, and what phases carry is lost.
Begin(t, b, object) ==
  LET Outdated(token) == IF token = "none" THEN token ELSE "stale"
  IN Forget([t EXCEPT !.objects[b] = object, !.tokens = [a \in Agents |-> [@[a] EXCEPT ![b] = Outdated(@)]]],
            {Gathering(b), Phases(b)})
InitObject(t, a, r) ==
  LET b == Rows[r].bar
  IN IF t.objects[b].live THEN End(t, "mbarrier_live") ELSE Go(Begin(t, b, Fresh(Rows[r].count)), a, r)
InvalObject(t, a, r) ==
  LET b == Rows[r].bar
  IN IF ~t.objects[b].live THEN End(t, "mbarrier_not_live")
     ELSE IF Waiting(t, b) # {} \/ FliesTo(t, b) THEN End(t, "mbarrier_live")
     ELSE Go(Begin(t, b, Dead), a, r)

\* Dropped arrivals are not expected any more from the next phase on, which has to expect some.
ArriveOnObject(t, a, r) ==
  LET row == Rows[r]
      b == row.bar
      o == t.objects[b]
      t2 == IF row.drops = 1 THEN [t EXCEPT !.objects[b].due = @ - row.count] ELSE t
      t3 == IF row.token = 1 THEN [t2 EXCEPT !.tokens[a][b] = "present"] ELSE t2
  IN IF ~o.live THEN End(t, "mbarrier_not_live")
     ELSE IF row.drops = 1 /\ row.count >= o.due THEN End(t, "over_arrival")
     ELSE CountIn(Go(Publish(t3, a, r), a, r), b, row.count, Signed(row), row.no_complete = 0)

CountBytes(t, a, r) ==
  LET row == Rows[r]
  IN IF ~t.objects[row.bar].live THEN End(t, "mbarrier_not_live")
     ELSE CountIn(Go(t, a, r), row.bar, 0, Signed(row), TRUE)

\* The phase of a parity is complete if it is not the present one; that of a token if it is the one before.
WaitOrAsk(t, a, r, complete, incomplete) ==
  LET row == Rows[r]
      b == row.bar
      token == t.tokens[a][b]
      isComplete == IF row.phase = OfToken THEN token = "before" ELSE row.phase # t.objects[b].odd
      passed == PassBoth([t EXCEPT !.objects[b].seen = TRUE, !.at[a] = complete], Phases(b), {Agent(a)})
  IN IF ~t.objects[b].live THEN End(t, "mbarrier_not_live")
     ELSE IF row.phase = OfToken /\ token \in {"none", "stale"} THEN End(t, "stale_token")
     ELSE IF isComplete /\ row.denies = 0 THEN passed
     ELSE [t EXCEPT !.at[a] = incomplete]
WaitForPhase(t, a, r) == WaitOrAsk(t, a, r, Rows[r].go, Rows[r].blocks)
Ask(t, a, r) == WaitOrAsk(t, a, r, Rows[r].answered, Rows[r].go)

ObjectHoldsArrivals(t, b) ==
  LET o == t.objects[b] IN o.live /\ (o.missing # o.due \/ o.bytes # 0)

