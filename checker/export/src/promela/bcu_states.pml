/* ---- B2R.BAR, R2B.BAR: BCU instruction set ---------------------------------------------------------------- */

/* The states of barriers that each warp holds in registers, by agent and number: one without arrivals is that of an idle
   barrier. What no register holds any more is forgotten. */
byte held_arrivals[AGENTS * STATES];
byte held_expected[AGENTS * STATES];
byte held_operator[AGENTS * STATES];
short held_tally[AGENTS * STATES];

hidden short held, also_held;
hidden byte differ;

/* Whether an agent at a node holds a state. */
#define HOLDS(node, state) ((node) < FIRST_PARKED -> (node_holds[node] >> (state)) & 1 : 0)
#define HELD(agent, state) ((agent) * STATES + (state))
#define SAME(one, other) \
	HELD_IS(one, held_arrivals[other], held_expected[other], held_operator[other], held_tally[other])
#define HELD_IS(one, of_arrivals, of_expected, of_operator, of_tally) \
	(held_arrivals[one] == (of_arrivals) && held_expected[one] == (of_expected) && \
	held_operator[one] == (of_operator) && held_tally[one] == (of_tally))

/* Agent _pid reads the state of a barrier into a register. */
inline read_state() {
	bar = step_bar[row];
	held = HELD(_pid, step_state[row]);
	held_arrivals[held] = arrivals[bar];
	held_expected[held] = expected[bar];
	held_operator[held] = operator[bar];
	held_tally[held] = tally[bar];
	at[_pid] = step_go[row]
}

/* It puts one back: onto an idle barrier, or onto an equal state. That completes nothing, and is no use of the id. */
inline write_state() {
	bar = step_bar[row];
	held = HELD(_pid, step_state[row]);
	differ = 0;
	for (other : 0 .. STATES - 1) {
		also_held = HELD(_pid, other);
		if
		:: ((step_states[row] >> other) & 1) && !SAME(held, also_held) -> differ = 1
		:: else
		fi
	}
	if
	/* Lanes hold states that are not the same. */
	:: differ -> cut(not_modelled)
	:: arrivals[bar] && !HELD_IS(held, arrivals[bar], expected[bar], operator[bar], tally[bar]) -> end_state_clobbered
	:: else ->
		arrivals[bar] = held_arrivals[held];
		expected[bar] = held_expected[held];
		operator[bar] = held_operator[held];
		tally[bar] = held_tally[held];
		at[_pid] = step_go[row]
	fi
}

inline forget_states() {
	for (agent : 0 .. AGENTS - 1) {
		for (other : 0 .. STATES - 1) {
			if
			:: HOLDS(at[agent], other)
			:: else ->
				held = HELD(agent, other);
				held_arrivals[held] = 0;
				held_expected[held] = 0;
				held_operator[held] = 0;
				held_tally[held] = 0
			fi
		}
	}
}
