\* ---- barrier.cluster: PTX ISA, section barrier.cluster -------------------------------------------------------

\* out: an arrival is owed; arrived; passed: what the agent arrived at is complete, and a wait is owed.
Cluster == CHOOSE b \in PhaseBarriers \ Objects : TRUE
\* Completes once some have arrived, and all others have exited: what those knew is taken in, in time only.
SettleCluster(t) ==
  LET arrived == {a \in Agents : t.standing[a] = "arrived"}
      waiting == Waiting(t, Cluster)
      After(a) == IF a \in arrived \ waiting THEN "passed" ELSE "out"
      taken == TakeInTime(t, {Agent(a) : a \in Gone(t) \ arrived}, Gathering(Cluster))
      told == PassBoth(HandOn(taken, Cluster), Phases(Cluster), {Agent(a) : a \in waiting})
  IN IF arrived # {} /\ Agents \ arrived \subseteq Gone(t)
     THEN Release([told EXCEPT !.standing = [a \in Agents |-> After(a)]], Cluster, 0)
     ELSE t
ArriveAtCluster(t, a, r) ==
  IF t.standing[a] # "out" THEN End(t, "repeated_arrival")
  ELSE SettleCluster(Go(Publish([t EXCEPT !.standing[a] = "arrived"], a, r), a, r))
WaitAtCluster(t, a, r) ==
  CASE t.standing[a] = "out" -> End(t, "wait_without_arrive")
    [] t.standing[a] = "arrived" -> [t EXCEPT !.at[a] = Rows[r].blocks]
    [] t.standing[a] = "passed" ->
         PassBoth(Go([t EXCEPT !.standing[a] = "out"], a, r), Phases(Cluster), {Agent(a)})

