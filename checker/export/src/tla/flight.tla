\* ---- What holds knowledge while it is in flight ---------------------------------------------------------------

\* The record knows the copies that are not forgotten: of those in flight nobody else need know.
TheRecord == <<"record">>
Copies(t) == IF HasMemory THEN t.time[TheRecord] ELSE {}
Record(t, copies) == [t EXCEPT !.time[TheRecord] = @ \cup copies]
InFlight(t) == DOMAIN t.flying
FliesTo(t, b) == \E flight \in InFlight(t) : Rows[flight.row].bar = b
\* Of what is in flight, what is known of the accesses that satisfy Stays.
KeepInFlight(t, Stays(_)) ==
  LET Kept(flight) ==
        [flight EXCEPT !.time = TLCEval({x \in @ : Stays(x)}), !.memory = TLCEval({x \in @ : Stays(x)})]
  IN [t EXCEPT !.flying = TLCEval(BagOfAll(Kept, @))]

