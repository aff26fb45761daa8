\* ---- BAR.SYNC, BAR.ARV, BAR.RED: BCU instruction set ---------------------------------------------------------

\* Numbers are in warps: every executed instruction counts for 32 threads. A barrier is idle while nothing has arrived.
\* expected: 0 for every warp that has not exited. usage: what the id has been used for in any generation.
\* tally: POPC: true predicates; AND: 1 if one was false; OR: 1 if one was true.
Idle == [arrivals |-> 0, expected |-> 0, arrived |-> {}, usage |-> "none", operator |-> 0, tally |-> 0]
Popc == 1
And == 2
Generation(b) == <<"generation", b>>
\* What a warp knew when a SYNC or RED released it: ARV carries nothing else in memory.
Published(a) == <<"published", a>>
MoreHolders == {Generation(b) : b \in Barriers} \cup {Published(a) : a \in Agents}
Usage(operator) == IF operator = 0 THEN "plain" ELSE "reduction"

Tally(g, row) ==
  CASE row.operator = 0 -> 0
    [] row.operator = Popc -> g.tally + row.truths
    [] row.operator = And -> IF row.truths < row.lanes THEN 1 ELSE g.tally
    [] OTHER -> IF row.truths > 0 THEN 1 ELSE g.tally

\* Completes the generation of barrier b if its count is reached.
Settle(t, b) ==
  LET g == t.bars[b]
      waiting == Waiting(t, b)
      complete == IF g.expected = 0 THEN g.arrivals + Cardinality(Gone(t)) = Cardinality(Agents)
                  ELSE g.arrivals = g.expected
      result == IF g.operator = And THEN 1 - g.tally ELSE g.tally
      unfetched == g.operator # 0 /\ \E a \in waiting : Waits[t.at[a] - FirstWaiting + 1].unfetched = 1
      taken == IF g.expected = 0 THEN TakeInTime(t, {Agent(a) : a \in Gone(t)}, Generation(b)) ELSE t
      learnt == PassBoth(taken, Generation(b), {Agent(a) : a \in waiting})
      published == [learnt EXCEPT !.memory = [h \in DOMAIN @ |->
        IF h \in {Published(a) : a \in waiting} THEN @[h] \cup @[Agent(h[2])] ELSE @[h]]]
      done == Forget([Release(published, b, result) EXCEPT !.bars[b] = [Idle EXCEPT !.usage = g.usage]], {Generation(b)})
  IN IF g.arrivals # 0 /\ complete
     THEN Note(Note(done, "nobody_waits", waiting = {}), "result_overwritten", unfetched)
     ELSE t

Arrive(t, a, r) ==
  LET row == Rows[r]
      b == row.bar
      g == t.bars[b]
      active == g.arrivals # 0
      h == [arrivals |-> g.arrivals + 1, expected |-> row.count, arrived |-> g.arrived \cup {a},
            usage |-> Usage(row.operator), operator |-> row.operator, tally |-> Tally(g, row)]
      t2 == PassTime([Go(t, a, r) EXCEPT !.bars[b] = h], Agent(a), {Generation(b)})
      t3 == PassMemory(t2, IF row.waits = 1 THEN Agent(a) ELSE Published(a), {Generation(b)})
      t4 == Note(Note(t3, "register_truncated", row.truncated = 1), "repeated_arrival", a \in g.arrived)
      \* A state that was put back is of a kind, too.
      mixes == \/ g.usage # "none" /\ g.usage # Usage(row.operator)
               \/ active /\ Usage(g.operator) # Usage(row.operator)
  IN IF mixes THEN End(t, "mixed_red")
     ELSE IF active /\ g.operator # row.operator THEN End(t, "mixed_red_op")
     ELSE IF active /\ g.expected # row.count THEN End(t, "count_mismatch")
     ELSE Settle(t4, b)

RECURSIVE SettleAll(_, _)
SettleAll(t, left) == IF left = {} THEN t ELSE LET b == CHOOSE b \in left : TRUE IN SettleAll(Settle(t, b), left \ {b})
Exit(t, a) == SettleAll([t EXCEPT !.at[a] = Exited], Barriers)

Fence(t, a, r) == Go(t, a, r)

\* More fragments stand at an arrival with this count than the generation has room for.
Race(t, x) ==
  LET g == t.bars[x.bar]
      room == IF g.arrivals = 0 THEN x.first
              ELSE IF g.expected = x.first THEN x.first - g.arrivals ELSE 32 * Cardinality(Agents)
  IN Standing(t, x.standing) > room
HoldsArrivals(t, b) == t.bars[b].arrivals # 0

