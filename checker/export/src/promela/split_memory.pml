/* Order from A's arrival with Release to B's wait with Acquire, both with a memory scope that contains both agents and with
   the storage class of the location; an OpMemoryBarrier does the same as the arrival after it or the wait before it.
   What an agent has released by OpMemoryBarrier to the workgroup (far) or to its subgroup only (near), and what its waits
   have received from other subgroups (far) or from its own (near), whether acquired or not. */
#define RELEASED(agent, far) (AGENTS * (1 + (far)) + (agent))
#define RECEIVED(agent, far) (AGENTS * (3 + (far)) + (agent))
/* What a barrier's generation carries, the one that gathers (done: 0) or the completed one (1), released by the agents of
   a subgroup to the workgroup or to themselves. In time, the first of a generation's holders carries it all. */
#define CARRIED(bar, done, subgroup, far) (AGENTS * 5 + (((bar) * 2 + (done)) * SUBGROUPS + (subgroup)) * 2 + (far))
#define IN_TIME(bar, done) CARRIED(bar, done, 0, 0)
#define SUBGROUP(agent) ((agent) / SUBGROUP_SIZE)
#define REACHES_NOBODY    0
#define REACHES_SUBGROUP  1
#define REACHES_WORKGROUP 2
hidden byte subgroup;

/* What is known in memory of locations of some spaces. */
inline pass_in(from, to, of_shared, of_global) {
	for (entry : 0 .. ACCESSES - 1) {
		if
		:: KNOWS(in_memory, from, entry) && (space_of[entry] == SHARED -> of_shared : of_global) ->
			ADD(in_memory, to, entry)
		:: else
		fi
	}
}

inline publish() {
	if
	:: step_members[row] > 1 ->
		for (word : 0 .. WORDS - 1) {
			PASS(in_time, _pid, IN_TIME(bar, 0));
			PASS(in_memory, RELEASED(_pid, 0), CARRIED(bar, 0, SUBGROUP(_pid), 0));
			PASS(in_memory, RELEASED(_pid, 1), CARRIED(bar, 0, SUBGROUP(_pid), 1))
		}
		if
		:: step_releases[row] == REACHES_WORKGROUP ->
			pass_in(_pid, CARRIED(bar, 0, SUBGROUP(_pid), 1), step_shared[row], step_global[row])
		:: step_releases[row] == REACHES_SUBGROUP ->
			pass_in(_pid, CARRIED(bar, 0, SUBGROUP(_pid), 0), step_shared[row], step_global[row])
		:: else
		fi
	:: else
	fi
}

/* The generation completes: what it carries is what waits receive. */
inline hand_over() {
	for (word : 0 .. WORDS - 1) {
		in_time[IN_TIME(bar, 1) * WORDS + word] = in_time[IN_TIME(bar, 0) * WORDS + word];
		in_time[IN_TIME(bar, 0) * WORDS + word] = 0;
		for (holder : 0 .. 2 * SUBGROUPS - 1) {
			in_memory[(CARRIED(bar, 1, 0, 0) + holder) * WORDS + word] =
				in_memory[(CARRIED(bar, 0, 0, 0) + holder) * WORDS + word];
			in_memory[(CARRIED(bar, 0, 0, 0) + holder) * WORDS + word] = 0
		}
	}
}

inline forget_carried() {
	for (word : 0 .. WORDS - 1) {
		in_time[IN_TIME(bar, 1) * WORDS + word] = 0;
		for (holder : 0 .. 2 * SUBGROUPS - 1) {
			in_memory[(CARRIED(bar, 1, 0, 0) + holder) * WORDS + word] = 0
		}
	}
}

/* An agent passes its wait. */
inline receive_as(who, acquires, of_shared, of_global) {
	for (word : 0 .. WORDS - 1) {
		PASS(in_time, IN_TIME(bar, 1), who);
		for (subgroup : 0 .. SUBGROUPS - 1) {
			if
			:: subgroup == SUBGROUP(who) ->
				PASS(in_memory, CARRIED(bar, 1, subgroup, 0), RECEIVED(who, 0));
				PASS(in_memory, CARRIED(bar, 1, subgroup, 1), RECEIVED(who, 0))
			:: else -> PASS(in_memory, CARRIED(bar, 1, subgroup, 1), RECEIVED(who, 1))
			fi
		}
	}
	for (subgroup : 0 .. SUBGROUPS - 1) {
		if
		:: subgroup == SUBGROUP(who) && acquires != REACHES_NOBODY ->
			pass_in(CARRIED(bar, 1, subgroup, 0), who, of_shared, of_global);
			pass_in(CARRIED(bar, 1, subgroup, 1), who, of_shared, of_global)
		:: subgroup != SUBGROUP(who) && acquires == REACHES_WORKGROUP ->
			pass_in(CARRIED(bar, 1, subgroup, 1), who, of_shared, of_global)
		:: else
		fi
	}
}

inline receive() {
	if
	:: step_members[row] > 1 -> receive_as(_pid, step_acquires[row], step_shared[row], step_global[row])
	:: else
	fi
}

#define WAITING at[agent] - FIRST_WAITING

inline receive_released() {
	if
	:: step_members[row] > 1 ->
		receive_as(agent, wait_acquires[WAITING], wait_shared[WAITING], wait_global[WAITING])
	:: else
	fi
}

/* OpMemoryBarrier: first it acquires, then it releases. */
inline memory_barrier() {
	if
	:: step_acquires[row] != REACHES_NOBODY -> pass_in(RECEIVED(_pid, 0), _pid, step_shared[row], step_global[row])
	:: else
	fi;
	if
	:: step_acquires[row] == REACHES_WORKGROUP -> pass_in(RECEIVED(_pid, 1), _pid, step_shared[row], step_global[row])
	:: else
	fi;
	if
	:: step_releases[row] == REACHES_WORKGROUP -> pass_in(_pid, RELEASED(_pid, 1), step_shared[row], step_global[row])
	:: step_releases[row] == REACHES_SUBGROUP -> pass_in(_pid, RELEASED(_pid, 0), step_shared[row], step_global[row])
	:: else
	fi;
	at[_pid] = step_go[row]
}
