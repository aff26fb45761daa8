\* A fence releases what its warp knows to the relaxed arrivals after it: to those on objects of the own CTA, or, if it
\* reaches so far, of other CTAs too.
Released(a, far) == <<"released", a, far>>
HoldersOfFences == {Released(a, far) : a \in Agents, far \in 0 .. 1}
ReleaseByFence(t, a, r) == PassMemory(t, Agent(a), {Released(a, Rows[r].far)})
CarriesReleased == 2
CarriesReleasedFar == 3
CarryReleased(t, a, carries, to) ==
  LET far == IF carries \in {CarriesReleased, CarriesReleasedFar} THEN PassMemory(t, Released(a, 1), {to}) ELSE t
  IN IF carries = CarriesReleased THEN PassMemory(far, Released(a, 0), {to}) ELSE far

