\* ---- B2R.BAR, R2B.BAR: BCU instruction set ---------------------------------------------------------------------

\* What a warp holds of a barrier's state. What no register holds any more is forgotten.
StateOf(g) == [arrivals |-> g.arrivals, expected |-> g.expected, operator |-> g.operator, tally |-> g.tally]
NothingHeld == [a \in Agents |-> [k \in States |-> StateOf(Idle)]]

ReadState(t, a, r) == [Go(t, a, r) EXCEPT !.held[a][Rows[r].state] = StateOf(t.bars[Rows[r].bar])]

\* One may be put back onto an idle barrier or onto an equal state. That completes nothing, and is no use of the id.
WriteState(t, a, r) ==
  LET b == Rows[r].bar
      g == t.bars[b]
      held == {t.held[a][k] : k \in Rows[r].states}
      put == CHOOSE h \in held : TRUE
      restored == [g EXCEPT !.arrivals = put.arrivals, !.expected = put.expected,
                            !.operator = put.operator, !.tally = put.tally]
  IN IF Cardinality(held) > 1 THEN End(t, "not_modelled")
     ELSE IF g.arrivals # 0 /\ StateOf(g) # put THEN End(t, "state_clobbered")
     ELSE [Go(t, a, r) EXCEPT !.bars[b] = restored]

ForgetStates(t) ==
  [t EXCEPT !.held = [a \in Agents |-> [k \in States |->
    IF k \in Holds[t.at[a] + 1] THEN @[a][k] ELSE StateOf(Idle)]]]

