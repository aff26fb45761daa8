\* ---- OpControlBarrierArriveINTEL, OpControlBarrierWaitINTEL: SPV_INTEL_split_barrier -------------------------

\* Who has arrived in the generation that gathers; who has yet to wait for the one completed last; the dynamic instances at
\* which agents arrive and wait, 0 before the first of them, and at which they wait in the completed one.
Idle == [arrived |-> {}, pending |-> {}, arriveAt |-> 0, waitAt |-> 0, doneAt |-> 0]
\* Released by OpMemoryBarrier to the workgroup ("far") or to the subgroup only ("near"); received by waits from other
\* subgroups or from the own, whether acquired or not; carried by a generation, from each subgroup.
Released(a, reach) == <<"released", a, reach>>
Received(a, reach) == <<"received", a, reach>>
Carried(b, when, sub, reach) == <<"carried", b, when, sub, reach>>
Reaches == {"near", "far"}
Whens == {"now", "done"}
InTime(b, when) == <<"in time", b, when>>
MoreHolders ==
  {Released(a, x) : a \in Agents, x \in Reaches} \cup {Received(a, x) : a \in Agents, x \in Reaches} \cup
  {Carried(b, w, g, x) : b \in Barriers, w \in Whens, g \in Subgroups, x \in Reaches} \cup
  {InTime(b, w) : b \in Barriers, w \in Whens}
CarriedAll(b, when) == {Carried(b, when, g, x) : g \in Subgroups, x \in Reaches}
SubgroupOf(a) == a \div SubgroupSize

PassIn(t, from, to, spaces) ==
  LET Of(x) == SpaceOf[x.loc] \in spaces IN TLCEval([t EXCEPT !.memory = Pass(@, from, {to}, Of)])
RECURSIVE PassAll(_, _, _, _)
PassAll(t, froms, to, spaces) ==
  IF froms = {} THEN t
  ELSE LET from == CHOOSE h \in froms : TRUE IN PassAll(PassIn(t, from, to, spaces), froms \ {from}, to, spaces)
EverySpace == {"shared", "global"}

Publish(t, a, row) ==
  LET b == row.bar
      g == SubgroupOf(a)
      t2 == PassTime(t, Agent(a), {InTime(b, "now")})
      t3 == PassIn(t2, Released(a, "near"), Carried(b, "now", g, "near"), EverySpace)
      t4 == PassIn(t3, Released(a, "far"), Carried(b, "now", g, "far"), EverySpace)
  IN IF row.members = 1 THEN t
     ELSE IF row.releases = 2 THEN PassIn(t4, Agent(a), Carried(b, "now", g, "far"), row.spaces)
     ELSE IF row.releases = 1 THEN PassIn(t4, Agent(a), Carried(b, "now", g, "near"), row.spaces)
     ELSE t4

\* Agent a passes its wait for barrier b.
Receive(t, a, b, acquires, spaces) ==
  LET near == {Carried(b, "done", SubgroupOf(a), x) : x \in Reaches}
      far == {Carried(b, "done", g, "far") : g \in Subgroups \ {SubgroupOf(a)}}
      t2 == PassTime(t, InTime(b, "done"), {Agent(a)})
      t3 == PassAll(PassAll(t2, near, Received(a, "near"), EverySpace), far, Received(a, "far"), EverySpace)
      t4 == IF acquires >= 1 THEN PassAll(t3, near, Agent(a), spaces) ELSE t3
  IN IF acquires = 2 THEN PassAll(t4, far, Agent(a), spaces) ELSE t4

RECURSIVE ReceiveAll(_, _, _)
ReceiveAll(t, b, left) ==
  IF left = {} THEN t
  ELSE LET a == CHOOSE a \in left : TRUE
           w == Waits[t.at[a] - FirstWaiting + 1]
       IN ReceiveAll(Receive(t, a, b, w.acquires, w.spaces), b, left \ {a})

HandOver(t, b) ==
  LET Old(h) == IF h[1] = "in time" THEN InTime(b, "now") ELSE Carried(b, "now", h[4], h[5])
      done == CarriedAll(b, "done") \cup {InTime(b, "done")}
      now == CarriedAll(b, "now") \cup {InTime(b, "now")}
      Over(known) ==
        TLCEval([h \in DOMAIN known |-> IF h \in done THEN known[Old(h)] ELSE IF h \in now THEN {} ELSE known[h]])
  IN [t EXCEPT !.time = Over(@), !.memory = Over(@)]

\* Nobody has yet to wait for the generation completed last: nothing of it matters any more.
ForgetDone(t, b) ==
  IF t.bars[b].pending # {} THEN t
  ELSE Forget([t EXCEPT !.bars[b].doneAt = 0], CarriedAll(b, "done") \cup {InTime(b, "done")})

\* Everybody has arrived: those who wait go on, the others have yet to wait.
Complete(t, b, members) ==
  LET g == t.bars[b]
      waiting == Waiting(t, b)
      h == [arrived |-> {}, pending |-> g.arrived \ waiting, arriveAt |-> 0, waitAt |-> 0, doneAt |-> g.waitAt]
      t2 == IF members = 1 THEN t ELSE ReceiveAll(HandOver(t, b), b, waiting)
  IN ForgetDone([Release(t2, b, 0) EXCEPT !.bars[b] = h], b)

Unlike(instance, row) == instance # 0 /\ instance # row.instance
EndUnlike(t, row) == End(t, IF row.workgroup = 1 THEN "nonuniform_barrier" ELSE "not_modelled")

Arrive(t, a, row, both) ==
  LET b == row.bar
      g == t.bars[b]
      h == [g EXCEPT !.arrived = @ \cup {a}, !.arriveAt = row.instance, !.waitAt = IF both THEN row.instance ELSE @]
      t2 == Publish([t EXCEPT !.bars[b] = h, !.at[a] = IF both THEN row.blocks ELSE row.go], a, row)
  IN IF a \in g.arrived \cup g.pending THEN End(t, "repeated_arrival")
     ELSE IF Unlike(g.arriveAt, row) \/ (both /\ Unlike(g.waitAt, row)) THEN EndUnlike(t, row)
     ELSE IF Cardinality(h.arrived) = row.members THEN Complete(t2, b, row.members) ELSE t2

Wait(t, a, row) ==
  LET b == row.bar
      g == t.bars[b]
      t2 == [t EXCEPT !.bars[b].pending = @ \ {a}, !.bars[b].doneAt = row.instance, !.at[a] = row.go]
      t3 == IF row.members = 1 THEN t2 ELSE Receive(t2, a, b, row.acquires, row.spaces)
  IN IF a \notin g.arrived \cup g.pending THEN End(t, "wait_without_arrive")
     ELSE IF Unlike(IF a \in g.pending THEN g.doneAt ELSE g.waitAt, row) THEN EndUnlike(t, row)
     ELSE IF a \in g.pending THEN ForgetDone(t3, b)
     ELSE [t EXCEPT !.bars[b].waitAt = row.instance, !.at[a] = row.blocks]

Control(t, a, r) == LET row == Rows[r] IN IF row.part = 1 THEN Wait(t, a, row) ELSE Arrive(t, a, row, row.part = 2)

Exit(t, a) ==
  LET owes == \E b \in Barriers : a \in t.bars[b].arrived \cup t.bars[b].pending
  IN Note([t EXCEPT !.at[a] = Exited], "missing_wait", owes)

\* OpMemoryBarrier: first it acquires, then it releases.
MemoryBarrier(t, a, r) ==
  LET row == Rows[r]
      t2 == IF row.acquires >= 1 THEN PassIn(t, Received(a, "near"), Agent(a), row.spaces) ELSE t
      t3 == IF row.acquires = 2 THEN PassIn(t2, Received(a, "far"), Agent(a), row.spaces) ELSE t2
      t4 == IF row.releases = 2 THEN PassIn(t3, Agent(a), Released(a, "far"), row.spaces)
            ELSE IF row.releases = 1 THEN PassIn(t3, Agent(a), Released(a, "near"), row.spaces)
            ELSE t3
  IN Go(t4, a, r)

Race(t, x) == FALSE
HoldsArrivals(t, b) == FALSE

