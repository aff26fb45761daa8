\* ---- NBARRIER: Intel vISA; arrive and wait of XeGPU, which lower to it ---------------------------------------

\* p, c: producers and consumers expected, 0 while the barrier is idle. Who has signalled, as what; who has a completed
\* generation yet to consume; whose latest signal was a producer's only.
Idle == [p |-> 0, c |-> 0, producers |-> {}, consumers |-> {}, notified |-> {}, producedLast |-> {}]
Generation(b) == <<"generation", b>>
Notification(b, a) == <<"notification", b, a>>
MoreHolders == {Generation(b) : b \in Barriers} \cup {Notification(b, a) : b \in Barriers, a \in Agents}

\* Both counters are full: the consumers are notified, and those who wait go on.
Complete(t, b) ==
  LET g == t.bars[b]
      waiting == Waiting(t, b)
      kept == g.consumers \ waiting
      to == {Agent(a) : a \in waiting} \cup {Notification(b, a) : a \in kept}
      h == [g EXCEPT !.p = 0, !.c = 0, !.producers = {}, !.consumers = {}, !.notified = @ \cup kept]
  IN Forget([Release(PassBoth(t, Generation(b), to), b, 0) EXCEPT !.bars[b] = h], {Generation(b)})

Signal(t, a, r) ==
  LET row == Rows[r]
      b == row.bar
      g == t.bars[b]
      add == [producers |-> IF row.produces = 1 THEN {a} ELSE {}, consumers |-> IF row.consumes = 1 THEN {a} ELSE {}]
      h == [g EXCEPT !.p = row.producers, !.c = row.consumers, !.producers = @ \cup add.producers,
                     !.consumers = @ \cup add.consumers,
                     !.producedLast = IF row.consumes = 1 THEN @ \ {a} ELSE @ \cup {a}]
      full == Cardinality(h.producers) = h.p /\ Cardinality(h.consumers) = h.c
      t2 == PassBoth([Go(t, a, r) EXCEPT !.bars[b] = h], Agent(a), {Generation(b)})
      t3 == Note(t2, "reuse_before_free", g.notified # {})
  IN IF g.p # 0 /\ (g.p # row.producers \/ g.c # row.consumers) THEN End(t, "count_mismatch")
     ELSE IF a \in g.producers \cup g.consumers THEN End(t, "repeated_arrival")
     ELSE IF Cardinality(h.producers) > h.p \/ Cardinality(h.consumers) > h.c THEN End(t, "too_many_participants")
     ELSE IF full /\ h.consumers \cap g.notified # {} THEN End(t, "lost_notification")
     ELSE IF full THEN Complete(t3, b) ELSE t3

Wait(t, a, r) ==
  LET b == Rows[r].bar
      g == t.bars[b]
      t2 == PassBoth([Go(t, a, r) EXCEPT !.bars[b].notified = @ \ {a}], Notification(b, a), {Agent(a)})
  IN IF a \in g.notified THEN Forget(t2, {Notification(b, a)})
     ELSE IF a \in g.consumers THEN [t EXCEPT !.at[a] = Rows[r].blocks]
     ELSE IF a \in g.producedLast /\ Target = "nbarrier" THEN End(t, "producer_waits")
     ELSE End(t, "wait_without_arrive")

Exit(t, a) ==
  LET owes == \E b \in Barriers : a \in t.bars[b].consumers \cup t.bars[b].notified
  IN Note([t EXCEPT !.at[a] = Exited], "missing_wait", owes)

\* XeGPU: how many barriers subgroups have allocated, 0 before the first has.
Allocate(t, a, r) ==
  LET n == Rows[r].number
  IN IF n < 1 \/ n > 32 THEN End(t, "barrier_id_range")
     ELSE IF t.allocated # 0 /\ t.allocated # n THEN End(t, "count_mismatch")
     ELSE [Go(t, a, r) EXCEPT !.allocated = n]

\* The agent's own accesses to locations of the spaces that the fence names become known in memory.
Fence(t, a, r) ==
  LET Of(x) == x.agent = a /\ SpaceOf[x.loc] \in Rows[r].spaces
  IN [Go(t, a, r) EXCEPT !.memory[Agent(a)] = @ \cup {x \in t.time[Agent(a)] : Of(x)}]

\* More agents stand at a signal with these counts, as producers or as consumers, than the generation has room for.
Race(t, x) ==
  LET g == t.bars[x.bar]
      same == g.p = x.first /\ g.c = x.second
      Room(number, there) == IF g.p = 0 THEN number ELSE IF same THEN number - Cardinality(there) ELSE Cardinality(Agents)
  IN \/ Standing(t, x.standing) > Room(x.first, g.producers)
     \/ Standing(t, x.alsoStanding) > Room(x.second, g.consumers)
HoldsArrivals(t, b) == t.bars[b].p # 0

