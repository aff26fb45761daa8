\* ---- What all targets share ----------------------------------------------------------------------------------

Agent(a) == <<"agent", a>>
HasExited(t, a) == t.at[a] = Exited
Gone(t) == {a \in Agents : HasExited(t, a)}
HasSteps(t, a) == t.at[a] < FirstWaiting
WaitsOn(t, a) ==
  IF t.at[a] >= FirstWaiting /\ t.at[a] < FirstParked THEN Waits[t.at[a] - FirstWaiting + 1].bar ELSE Nobody
Waiting(t, b) == {a \in Agents : WaitsOn(t, a) = b}
Go(t, a, r) == [t EXCEPT !.at[a] = Rows[r].go]

\* Nothing is claimed about what follows the violation of a rule that ends paths, nor about a path that is cut.
End(t, why) == [t EXCEPT !.end = why]
\* A violation of a rule that does not end the path counts where it is an error. The first one is enough.
Note(t, rule, holds) == IF holds /\ rule \in Errors /\ t.end = "" THEN End(t, rule) ELSE t

\* Those who wait for barrier b go on with a result.
Release(t, b, result) ==
  [t EXCEPT !.at = [a \in Agents |->
    IF WaitsOn(t, a) = b THEN Waits[t.at[a] - FirstWaiting + 1].to[result + 1] ELSE t.at[a]]]

\* TLC is told to work functions and sets out at once: it would do it again at every use, in every later state.
\* What holders know: each of the holders in to learns what from knows, for the accesses that satisfy Of.
Pass(known, from, to, Of(_)) ==
  TLCEval([h \in DOMAIN known |-> IF h \in to THEN TLCEval(known[h] \cup {x \in known[from] : Of(x)}) ELSE known[h]])
Everything(x) == TRUE
PassTime(t, from, to) == TLCEval([t EXCEPT !.time = Pass(@, from, to, Everything)])
PassMemory(t, from, to) == TLCEval([t EXCEPT !.memory = Pass(@, from, to, Everything)])
PassBoth(t, from, to) == PassMemory(PassTime(t, from, to), from, to)
Forget(t, holders) ==
  LET Without(known) == TLCEval([h \in DOMAIN known |-> IF h \in holders THEN {} ELSE known[h]])
  IN [t EXCEPT !.time = Without(@), !.memory = Without(@)]
TakeInTime(t, holders, to) ==
  [t EXCEPT !.time = [h \in DOMAIN @ |-> IF h = to THEN @[h] \cup UNION {@[from] : from \in holders} ELSE @[h]]]

NeedsMemory(kind) == ~HasFences \/ kind # "read"
\* A copy is a write by what an agent began: not even the agent knows when it is made, before it has waited.
Overwrites(kind) == kind \in {"write", "copy"}
Conflict(k, l) == Overwrites(k) \/ Overwrites(l) \/ k # l

\* Agent a accesses locations, or begins a copy to them: every earlier access by another agent, and every earlier copy,
\* that conflicts has to be known to it.
Access(t, a, kind, touched) ==
  LET Mine == [loc : touched, kind : {kind}, agent : {a}]
      earlier == {x \in UNION {t.time[Agent(o)] : o \in Agents \ {a}} \cup Copies(t) :
                   (x.agent # a \/ x.kind = "copy") /\ x.loc \in touched /\ Conflict(kind, x.kind)}
      races == {x \in earlier : x \notin t.time[Agent(a)]}
      unfenced == {x \in earlier \ races : NeedsMemory(x.kind) /\ x \notin t.memory[Agent(a)]}
      Replaced(x) == x.loc \in touched /\ (Overwrites(kind) \/ (x.kind = kind /\ x.agent = a))
      Left(known) == TLCEval([h \in DOMAIN known |-> TLCEval({x \in known[h] : ~Replaced(x)})])
      Stays(x) == ~Replaced(x)
      t2 == KeepInFlight([t EXCEPT !.time = Left(@), !.memory = Left(@)], Stays)
      t3 == IF kind = "copy" THEN Record(t2, Mine)
            ELSE [t2 EXCEPT !.time[Agent(a)] = @ \cup Mine, !.memory[Agent(a)] = IF HasFences THEN @ ELSE @ \cup Mine]
  IN Note(Note(t3, "data_race", races # {}), "missing_fence", unfenced # {})
AccessMemory(t, a, r) == Access(Go(t, a, r), a, Rows[r].kind, Rows[r].locations)

\* An access that every other live agent knows in all that is needed can conflict with nothing any more.
ForgetSettled(t) ==
  LET live == Agents \ Gone(t)
      all == UNION {t.time[Agent(a)] : a \in Agents} \cup Copies(t)
      settled == TLCEval({x \in all : \A a \in IF x.kind = "copy" THEN live ELSE live \ {x.agent} :
                   x \in t.time[Agent(a)] /\ (NeedsMemory(x.kind) => x \in t.memory[Agent(a)])})
      Left(known) == TLCEval([h \in DOMAIN known |-> TLCEval(known[h] \ settled)])
      Stays(x) == x \notin settled
  IN KeepInFlight([t EXCEPT !.time = Left(@), !.memory = Left(@)], Stays)

\* The next decision of a sequence that all agents make alike; those made that somebody has yet to make are remembered.
MayStep(t, a, r) ==
  IF Rows[r].act # "DECIDE" THEN TRUE
  ELSE LET q == Rows[r].sequence IN t.made[q][a] < Len(t.decided[q]) => t.decided[q][t.made[q][a] + 1] = Rows[r].value
Decide(t, a, r) ==
  LET q == Rows[r].sequence
      decided == IF t.made[q][a] = Len(t.decided[q]) THEN Append(t.decided[q], Rows[r].value) ELSE t.decided[q]
  IN [Go(t, a, r) EXCEPT !.decided[q] = decided, !.made[q][a] = @ + 1]
ForgetDecisions(t) ==
  LET May(q, a) == t.at[a] \in MayDecide[q]
      Oldest(q) == LET made == {t.made[q][a] : a \in {c \in Agents : May(q, c)}}
                   IN IF made = {} THEN Len(t.decided[q]) ELSE CHOOSE m \in made : \A n \in made : m <= n
  IN [t EXCEPT !.made = [q \in DOMAIN @ |-> [a \in Agents |-> IF May(q, a) THEN @[q][a] - Oldest(q) ELSE 0]],
               !.decided = [q \in DOMAIN @ |-> SubSeq(@[q], Oldest(q) + 1, Len(@[q]))]]

RECURSIVE Sum(_, _)
Sum(Of(_), set) == IF set = {} THEN 0 ELSE LET x == CHOOSE x \in set : TRUE IN Of(x) + Sum(Of, set \ {x})
\* How many agents are at some nodes, each as often as it counts there.
Standing(t, often) ==
  LET Often(a) == IF t.at[a] \in DOMAIN often THEN often[t.at[a]] ELSE 0 IN Sum(Often, Agents)

