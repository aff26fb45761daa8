/* ---- Decisions that all agents make alike ----------------------------------------------------------------- */

/* The decisions of each sequence that some agent has made and another has yet to make: how many, and which. */
byte decisions[SEQUENCES];
int decided[SEQUENCES];
/* How many of them each agent has made, by sequence and agent. */
byte made[SEQUENCES * AGENTS];
#define MOST_DECISIONS 30

hidden byte sequence, oldest;
#define MADE made[sequence * AGENTS + _pid]

/* Agent _pid makes its next decision. An alternative that another agent has ruled out leaves the state as it is. */
inline decide() {
	sequence = step_sequence[row];
	if
	:: MADE < decisions[sequence] && ((decided[sequence] >> MADE) & 1) != step_value[row]
	:: MADE == MOST_DECISIONS -> cut(too_many_decisions_ahead)
	:: else ->
		if
		:: MADE == decisions[sequence] ->
			decided[sequence] = decided[sequence] | (step_value[row] << MADE);
			decisions[sequence]++
		:: else
		fi;
		MADE++;
		at[_pid] = step_go[row]
	fi
}

/* Forgets decisions that nobody has yet to make. */
inline forget_decisions() {
	for (sequence : 0 .. SEQUENCES - 1) {
		oldest = decisions[sequence];
		for (agent : 0 .. AGENTS - 1) {
			if
			:: MAY_DECIDE(sequence, at[agent]) && made[sequence * AGENTS + agent] < oldest ->
				oldest = made[sequence * AGENTS + agent]
			:: else
			fi
		}
		for (agent : 0 .. AGENTS - 1) {
			if
			:: MAY_DECIDE(sequence, at[agent]) ->
				made[sequence * AGENTS + agent] = made[sequence * AGENTS + agent] - oldest
			:: else -> made[sequence * AGENTS + agent] = 0
			fi
		}
		decisions[sequence] = decisions[sequence] - oldest;
		decided[sequence] = decided[sequence] >> oldest
	}
}
