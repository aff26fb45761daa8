/* ---- OpControlBarrierArriveINTEL, OpControlBarrierWaitINTEL: SPV_INTEL_split_barrier ---------------------- */

/* Who has arrived in the generation that gathers, and how many; who has yet to wait for the one completed last. */
SET arrived[BARRIERS];
byte arrivals[BARRIERS];
SET pending[BARRIERS];
/* The dynamic instance at which agents arrive, and at which they wait, in the generation that gathers; and at which they
   wait in the one completed last. 0 before the first of them. */
short arrive_instance[BARRIERS];
short wait_instance[BARRIERS];
short done_instance[BARRIERS];

#define ARRIVES_ONLY 0
#define WAITS_ONLY   1
#define DOES_BOTH    2
#define UNLIKE(instance) (instance && instance != step_instance[row])

/* Agents meet from different dynamic instances: undefined for the workgroup, left to the client API for a subgroup. */
#define end_unlike if :: step_workgroup[row] -> end_nonuniform_barrier :: else -> cut(not_modelled) fi

/* Agent _pid arrives at barrier bar, waits for it, or both. */
inline control() {
	bar = step_bar[row];
	if
	:: step_part[row] == WAITS_ONLY -> wait()
	:: else -> arrive()
	fi
}

inline arrive() {
	if
	:: (arrived[bar] | pending[bar]) & MINE -> end_repeated_arrival
	:: UNLIKE(arrive_instance[bar]) -> end_unlike
	:: step_part[row] == DOES_BOTH && UNLIKE(wait_instance[bar]) -> end_unlike
	:: else ->
		arrive_instance[bar] = step_instance[row];
		arrived[bar] = arrived[bar] | MINE;
		arrivals[bar]++;
		publish();
		if
		:: step_part[row] == DOES_BOTH ->
			wait_instance[bar] = step_instance[row];
			at[_pid] = step_blocks[row]
		:: else -> at[_pid] = step_go[row]
		fi;
		if
		:: arrivals[bar] == step_members[row] -> complete()
		:: else
		fi
	fi
}

/* Everybody has arrived: those who wait go on, the others have yet to wait. */
inline complete() {
	pending[bar] = arrived[bar];
	done_instance[bar] = wait_instance[bar];
	hand_over();
	for (agent : 0 .. AGENTS - 1) {
		if
		:: WAITS_ON(at[agent]) == bar ->
			receive_released();
			pending[bar] = pending[bar] & ~(1 << agent);
			at[agent] = released_to[wait_first[at[agent] - FIRST_WAITING]]
		:: else
		fi
	}
	arrived[bar] = 0;
	arrivals[bar] = 0;
	arrive_instance[bar] = 0;
	wait_instance[bar] = 0;
	forget_done()
}

inline wait() {
	if
	:: !((arrived[bar] | pending[bar]) & MINE) -> end_wait_without_arrive
	:: (pending[bar] & MINE) && UNLIKE(done_instance[bar]) -> end_unlike
	:: (arrived[bar] & MINE) && UNLIKE(wait_instance[bar]) -> end_unlike
	:: pending[bar] & MINE ->
		done_instance[bar] = step_instance[row];
		pending[bar] = pending[bar] & ~MINE;
		receive();
		at[_pid] = step_go[row];
		forget_done()
	:: else ->
		wait_instance[bar] = step_instance[row];
		at[_pid] = step_blocks[row]
	fi
}

/* Nobody has yet to wait for the generation completed last: nothing of it matters any more. */
inline forget_done() {
	if
	:: !pending[bar] ->
		done_instance[bar] = 0;
		forget_carried()
	:: else
	fi
}

/* Agent _pid exits. No barrier is released by that. */
inline leave() {
	for (bar : 0 .. BARRIERS - 1) {
		if
		:: (arrived[bar] | pending[bar]) & MINE -> note_missing_wait
		:: else
		fi
	}
	at[_pid] = EXITED
}
