\* ---- Barriers of phases, and clusters ------------------------------------------------------------------------

AgentsOf(cta) == {a \in Agents : a \div CtaSize = cta}
\* The shared memory of an exited CTA is worked in.
ReachesExited(t, r) == \E cta \in Rows[r].reaches : AgentsOf(cta) \subseteq Gone(t)

CarriesAll == 0
\* An arrival publishes to the phase that gathers, and a wait learns all that completed phases carry.
Gathering(b) == <<"gathering", b>>
Phases(b) == <<"phases", b>>
Publish(t, a, r) ==
  LET t2 == PassTime(t, Agent(a), {Gathering(Rows[r].bar)})
  IN IF Rows[r].carries = CarriesAll THEN PassMemory(t2, Agent(a), {Gathering(Rows[r].bar)})
     ELSE CarryReleased(t2, a, Rows[r].carries, Gathering(Rows[r].bar))
HandOn(t, b) == Forget(PassBoth(t, Gathering(b), {Phases(b)}), {Gathering(b)})

