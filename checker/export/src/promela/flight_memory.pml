
/* What is in flight keeps what its agent knew when it began it: in time, and of a commit in memory. A copy also keeps the
   write that it makes, which nobody else knows; the record knows those that are not forgotten. */

inline take_off() {
	for (word : 0 .. WORDS - 1) {
		in_time[IN_FLIGHT(slot) * WORDS + word] = in_time[_pid * WORDS + word];
		in_memory[IN_FLIGHT(slot) * WORDS + word] = (arriving -> in_memory[_pid * WORDS + word] : 0)
	}
	if
	:: step_touches[row] -> access_memory()
	:: else
	fi
}

/* At the landing the phase that gathers learns it. */
inline deliver() {
	for (word : 0 .. WORDS - 1) {
		PASS(in_time, IN_FLIGHT(slot), GENERATION(bar));
		PASS(in_memory, IN_FLIGHT(slot), GENERATION(bar));
		in_time[IN_FLIGHT(slot) * WORDS + word] = 0;
		in_memory[IN_FLIGHT(slot) * WORDS + word] = 0
	}
}

inline move_knowledge(from, to) {
	for (word : 0 .. WORDS - 1) {
		in_time[IN_FLIGHT(to) * WORDS + word] = in_time[IN_FLIGHT(from) * WORDS + word];
		in_memory[IN_FLIGHT(to) * WORDS + word] = in_memory[IN_FLIGHT(from) * WORDS + word];
		in_time[IN_FLIGHT(from) * WORDS + word] = 0;
		in_memory[IN_FLIGHT(from) * WORDS + word] = 0
	}
}
