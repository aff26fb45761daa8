\* ---- barrier{.cta}: PTX ISA, "Parallel Synchronization and Communication Instructions" -----------------------

\* Numbers are in warps: a warp counts for 32 threads whatever its lanes. A barrier is idle while it expects nobody.
\* forAll: every arrival so far left the count out. operator: 0 for sync and arrive.
\* tally: popc: true predicates; and: 1 if one was false; or: 1 if one was true.
Idle == [expected |-> 0, arrived |-> {}, forAll |-> FALSE, operator |-> 0, tally |-> 0]
Popc == 1
And == 2
Generation(b) == <<"generation", b>>
MoreHolders == {Generation(b) : b \in Barriers} \cup HoldersOfPhases

Tally(g, row) ==
  CASE row.operator = 0 -> 0
    [] row.operator = Popc -> g.tally + row.truths
    [] row.operator = And -> IF row.truths < row.lanes THEN 1 ELSE g.tally
    [] OTHER -> IF row.truths > 0 THEN 1 ELSE g.tally

\* Completes the generation of barrier b if nobody is missing.
Settle(t, b) ==
  LET g == t.bars[b]
      waiting == Waiting(t, b)
      full == Cardinality(g.arrived) = g.expected
      onlyGone == (Sharing(b) \ g.arrived) \subseteq Gone(t) /\ (g.forAll \/ (ExitsRelease /\ waiting # {}))
      result == IF g.operator = And THEN 1 - g.tally ELSE g.tally
      taken == IF g.forAll \/ ~full THEN TakeInTime(t, {Agent(a) : a \in Gone(t) \cap Sharing(b)}, Generation(b)) ELSE t
      learnt == PassBoth(taken, Generation(b), {Agent(a) : a \in waiting})
      done == Forget([Release(learnt, b, result) EXCEPT !.bars[b] = Idle], {Generation(b)})
  IN IF g.expected # 0 /\ (full \/ onlyGone) THEN Note(done, "nobody_waits", waiting = {}) ELSE t

Arrive(t, a, r) ==
  LET row == Rows[r]
      b == row.bar
      g == t.bars[b]
      active == g.expected # 0
      h == [expected |-> row.count, arrived |-> g.arrived \cup {a}, forAll |-> row.for_all = 1 /\ (active => g.forAll),
            operator |-> row.operator, tally |-> Tally(g, row)]
      t2 == PassBoth([Go(t, a, r) EXCEPT !.bars[b] = h], Agent(a), {Generation(b)})
  IN CASE active /\ g.operator # row.operator /\ (g.operator = 0 \/ row.operator = 0) -> End(t, "mixed_red")
       [] active /\ g.operator # row.operator /\ g.operator # 0 /\ row.operator # 0 -> End(t, "mixed_red_op")
       [] active /\ g.operator = row.operator /\ g.expected # row.count -> End(t, "count_mismatch")
       [] active /\ g.operator = row.operator /\ g.expected = row.count /\ a \in g.arrived -> End(t, "repeated_arrival")
       [] OTHER -> Settle(Note(t2, "reserved_barrier", row.reserved = 1), b)

RECURSIVE SettleAll(_, _)
SettleAll(t, left) == IF left = {} THEN t ELSE LET b == CHOOSE b \in left : TRUE IN SettleAll(Settle(t, b), left \ {b})
Exit(t, a) == SettleAll([t EXCEPT !.at[a] = Exited], Barriers)

Fence(t, a, r) == ReleaseByFence(Go(t, a, r), a, r)

\* More warps stand at an arrival with this count than the generation has room for.
Race(t, x) ==
  LET g == t.bars[x.bar]
      room == IF g.expected = 0 THEN x.first
              ELSE IF g.expected = x.first /\ ~g.forAll THEN x.first - Cardinality(g.arrived) ELSE Cardinality(Agents)
  IN Standing(t, x.standing) > room
HoldsArrivals(t, b) == t.bars[b].expected # 0

