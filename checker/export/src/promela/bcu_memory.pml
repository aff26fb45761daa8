/* SYNC and RED are memory barriers: what a warp knows when one releases it, it has published. ARV is none: it carries in
   memory only what its warp has published before. */
#define PUBLISHED(agent) (AGENTS + BARRIERS + (agent))

inline publish() {
	for (word : 0 .. WORDS - 1) {
		PASS(in_time, _pid, GENERATION(bar));
		if
		:: step_waits[row] -> PASS(in_memory, _pid, GENERATION(bar))
		:: else -> PASS(in_memory, PUBLISHED(_pid), GENERATION(bar))
		fi
	}
}

inline learn() {
	for (word : 0 .. WORDS - 1) {
		PASS(in_time, GENERATION(bar), agent);
		PASS(in_memory, GENERATION(bar), agent);
		PASS(in_memory, agent, PUBLISHED(agent))
	}
}

/* A barrier that waits for all takes in, in time only, what those who have exited knew. */
inline take_in_exited() {
	for (agent : 0 .. AGENTS - 1) {
		if
		:: HAS_EXITED(agent) ->
			for (word : 0 .. WORDS - 1) {
				PASS(in_time, agent, GENERATION(bar))
			}
		:: else
		fi
	}
}

inline forget_generation() {
	for (word : 0 .. WORDS - 1) {
		in_time[GENERATION(bar) * WORDS + word] = 0;
		in_memory[GENERATION(bar) * WORDS + word] = 0
	}
}
