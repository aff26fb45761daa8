
/* Barriers of phases: an arrival publishes to the phase that gathers, and a wait learns all that completed phases carry. */
#define PHASES(bar) (AGENTS + PHASED + (bar))
#define CARRIES_ALL 0

inline publish_to_phase() {
	for (word : 0 .. WORDS - 1) {
		PASS(in_time, _pid, GENERATION(bar));
		if
		:: step_carries[row] == CARRIES_ALL -> PASS(in_memory, _pid, GENERATION(bar))
		:: else -> carry_released()
		fi
	}
}

/* The phase that gathers is complete. */
inline hand_on() {
	for (word : 0 .. WORDS - 1) {
		PASS(in_time, GENERATION(bar), PHASES(bar));
		PASS(in_memory, GENERATION(bar), PHASES(bar));
		in_time[GENERATION(bar) * WORDS + word] = 0;
		in_memory[GENERATION(bar) * WORDS + word] = 0
	}
}

inline observe(who) {
	for (word : 0 .. WORDS - 1) {
		PASS(in_time, PHASES(bar), who);
		PASS(in_memory, PHASES(bar), who)
	}
}

/* The life of an object begins or ends: what it carried before is lost. */
inline forget_phases() {
	for (word : 0 .. WORDS - 1) {
		in_time[GENERATION(bar) * WORDS + word] = 0;
		in_memory[GENERATION(bar) * WORDS + word] = 0;
		in_time[PHASES(bar) * WORDS + word] = 0;
		in_memory[PHASES(bar) * WORDS + word] = 0
	}
}

/* The phase that gathers takes in, in time only, what an agent knew that has exited. */
inline leave_behind(who) {
	for (word : 0 .. WORDS - 1) {
		PASS(in_time, who, GENERATION(bar))
	}
}
