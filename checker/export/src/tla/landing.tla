\* ---- What is in flight: copies, which deliver bytes, and commits, which arrive --------------------------------

\* A bag of what has yet to land, at any later time: a row with the same operation, the parity of the phase in which it was
\* begun, and what its agent knew then: in time, and of a commit in memory. A copy also keeps the write that it makes.
Issue(t, a, r) ==
  LET row == Rows[r]
      b == row.bar
      writes == [loc : row.locations, kind : {"copy"}, agent : {a}]
      t2 == IF row.locations = {} THEN t ELSE Access(t, a, "copy", row.locations)
      time == TLCEval(IF HasMemory THEN t2.time[Agent(a)] \cup writes ELSE {})
      memory == TLCEval(IF HasMemory /\ row.count > 0 THEN t2.memory[Agent(a)] \cup writes ELSE writes)
      flight == [row |-> row.operation, odd |-> t.objects[b].odd, time |-> time, memory |-> memory]
  IN IF ~t.objects[b].live THEN End(t, "mbarrier_not_live")
     ELSE IF BagCardinality(t.flying) = MostInFlight THEN End(t, "too_many_in_flight")
     ELSE [Go(t2, a, r) EXCEPT !.flying = @ (+) SetToBag({flight})]

Land(t, flight) ==
  LET row == Rows[flight.row]
      b == row.bar
      o == t.objects[b]
      left == [t EXCEPT !.flying = @ (-) SetToBag({flight})]
      told == IF HasMemory THEN [left EXCEPT !.time[Gathering(b)] = @ \cup flight.time,
                                             !.memory[Gathering(b)] = @ \cup flight.memory]
              ELSE left
  IN IF ReachesExited(t, flight.row) THEN End(t, "remote_after_exit")
     ELSE IF ~o.live \/ o.odd # flight.odd THEN End(t, "stale_completion")
     ELSE CountIn(told, b, row.count, Signed(row), TRUE)

\* A copy, or a commit, is in flight that a CTA has begun for itself whose agents have all exited.
LeftInFlight(t, commits) ==
  \E flight \in InFlight(t) :
    LET row == Rows[flight.row]
    IN row.reaches = {} /\ (row.count > 0) = commits /\ AgentsOf(HomeOf[row.bar + 1]) \subseteq Gone(t)
LandSome(t) == Land(t, CHOOSE flight \in InFlight(t) : TRUE)

