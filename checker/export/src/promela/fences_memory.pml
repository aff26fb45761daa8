
/* A fence releases what its warp knows to the relaxed arrivals after it: to those on objects of the own CTA, or, if it
   reaches so far, of other CTAs too. */
#define RELEASED(agent, far) (FIRST_RELEASED + 2 * (agent) + (far))
/* What a relaxed arrival carries in memory: nothing; what fences have released; of that what fences have that reach other
   CTAs. */
#define CARRIES_NOTHING 1
#define CARRIES_RELEASED 2
#define CARRIES_RELEASED_FAR 3

inline release_by_fence() {
	for (word : 0 .. WORDS - 1) {
		PASS(in_memory, _pid, RELEASED(_pid, step_far[row]))
	}
}

/* What a relaxed arrival carries. */
inline carry_released() {
	if
	:: step_carries[row] == CARRIES_NOTHING
	:: step_carries[row] == CARRIES_RELEASED ->
		PASS(in_memory, RELEASED(_pid, 0), GENERATION(bar));
		PASS(in_memory, RELEASED(_pid, 1), GENERATION(bar))
	:: step_carries[row] == CARRIES_RELEASED_FAR -> PASS(in_memory, RELEASED(_pid, 1), GENERATION(bar))
	fi
}
