/* A completed barrier orders what each arriving warp accessed before it, by any instruction, against everything that
   warps released by it do after it. */
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

/* A barrier that waits for all takes in, in time only, what those who have exited knew. */
inline take_in_exited() {
	for (agent : 0 .. AGENTS - 1) {
		if
		:: HAS_EXITED(agent) && IN_CTA(agent, bar) ->
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

inline fence() {
	release_by_fence();
	at[_pid] = step_go[row]
}
