
\* ---- stuck-agent: from some state on nothing can unblock an agent, and others can run for ever --------------------

\* Waiting for the warp's own lanes at a barrier is blocking.
Blocked(t, a) == (t.at[a] >= FirstWaiting /\ t.at[a] < Exited) \/ t.at[a] \in BlockedLanes
\* A rule that ends paths unblocks nobody. What would follow any other end is not known, and left to what ended it.
MayUnblock(t, a) == ~Blocked(t, a) \/ (t.end # "" /\ t.end \notin EndsPath)

\* Most agents are released soon: those that one walk leaves blocked, on which agents and alternatives take turns.
RECURSIVE LeftByWalk(_, _, _)
LeftByWalk(t, blocked, steps) ==
  LET left == {a \in blocked : ~MayUnblock(t, a)}
      going == {a \in Agents : Alternatives(t, a) # {}}
      Turn(a) == (a + steps) % Cardinality(Agents)
      next == CHOOSE a \in going : \A b \in going : Turn(a) <= Turn(b)
      row == CHOOSE r \in Alternatives(t, next) :
               \A q \in Alternatives(t, next) : IF (steps \div Cardinality(Agents)) % 2 = 0 THEN r <= q ELSE r >= q
  IN IF left = {} \/ steps = 0 \/ t.end # "" \/ (going = {} /\ InFlight(t) = {}) THEN left
     ELSE IF InFlight(t) # {} THEN LeftByWalk(TLCEval(Tidy(LandSome(t))), TLCEval(left), steps - 1)
     ELSE LeftByWalk(TLCEval(Tidy(Do(t, next, row))), TLCEval(left), steps - 1)

\* The states that are reached from new ones, known ones included; none if agent a may be unblocked in one of them.
RECURSIVE Confined(_, _, _)
Confined(a, new, known) ==
  IF \E t \in new : MayUnblock(t, a) THEN {}
  ELSE IF new = {} THEN known
  ELSE LET all == TLCEval(known \cup new) IN Confined(a, TLCEval(UNION {Successors(t) : t \in new} \ all), all)

\* Some path stays in these states for ever.
RECURSIVE Endless(_, _)
Endless(states, next) ==
  LET left == TLCEval({t \in states : next[t] \cap states # {}})
  IN left # {} /\ (left = states \/ Endless(left, next))
RunsForEver(states) == Endless(states, TLCEval([t \in states |-> Successors(t)]))

\* Who is stuck stays so, and what runs for ever comes back to where an agent goes round: there it is looked for.
Stuck(t) ==
  /\ \E a \in Agents : HasSteps(t, a) /\ t.at[a] \in OnCycles
  /\ \E a \in LeftByWalk(t, {a \in Agents : Blocked(t, a)}, 100) : RunsForEver(Confined(a, {t}, {}))
