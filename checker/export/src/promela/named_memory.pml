/* The instructions promise no order in memory. What is known in memory, by a fence of the agent that accessed, travels with
   every signal and wait as what is known in time does. A notification holds what its generation carried. */
#define NOTIFICATION(bar, agent) (AGENTS + BARRIERS + (bar) * AGENTS + (agent))

inline publish() {
	for (word : 0 .. WORDS - 1) {
		PASS(in_time, _pid, GENERATION(bar));
		PASS(in_memory, _pid, GENERATION(bar))
	}
}

inline learn() {
	for (word : 0 .. WORDS - 1) {
		PASS(in_time, GENERATION(bar), agent);
		PASS(in_memory, GENERATION(bar), agent)
	}
}

inline keep() {
	for (word : 0 .. WORDS - 1) {
		PASS(in_time, GENERATION(bar), NOTIFICATION(bar, agent));
		PASS(in_memory, GENERATION(bar), NOTIFICATION(bar, agent))
	}
}

inline take_out() {
	for (word : 0 .. WORDS - 1) {
		PASS(in_time, NOTIFICATION(bar, _pid), _pid);
		PASS(in_memory, NOTIFICATION(bar, _pid), _pid);
		in_time[NOTIFICATION(bar, _pid) * WORDS + word] = 0;
		in_memory[NOTIFICATION(bar, _pid) * WORDS + word] = 0
	}
}

inline forget_generation() {
	for (word : 0 .. WORDS - 1) {
		in_time[GENERATION(bar) * WORDS + word] = 0;
		in_memory[GENERATION(bar) * WORDS + word] = 0
	}
}

/* Agent _pid's own accesses to locations of the spaces that the fence names become known in memory. */
inline fence() {
	for (entry : 0 .. ACCESSES - 1) {
		if
		:: owner_of[entry] == _pid && KNOWS(in_time, _pid, entry) &&
		   (space_of[entry] == SHARED -> step_shared[row] : step_global[row]) -> ADD(in_memory, _pid, entry)
		:: else
		fi
	}
	at[_pid] = step_go[row]
}
