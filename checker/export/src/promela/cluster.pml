
/* ---- barrier.cluster: PTX ISA, section barrier.cluster -------------------------------------------------------- */

/* How an agent stands with it: it owes an arrival; it has arrived; what it arrived at is complete, and it owes a wait. */
byte standing[AGENTS];
#define OUT     0
#define ARRIVED 1
#define PASSED  2

inline arrive_at_cluster() {
	bar = CLUSTER;
	if
	:: standing[_pid] != OUT -> end_repeated_arrival
	:: else ->
		standing[_pid] = ARRIVED;
		publish_to_phase();
		at[_pid] = step_go[row];
		settle_cluster()
	fi
}

inline wait_at_cluster() {
	bar = CLUSTER;
	if
	:: standing[_pid] == OUT -> end_wait_without_arrive
	:: standing[_pid] == ARRIVED -> at[_pid] = step_blocks[row]
	:: else ->
		standing[_pid] = OUT;
		observe(_pid);
		at[_pid] = step_go[row]
	fi
}

/* Completes once some have arrived, and all others have exited. */
inline settle_cluster() {
	bar = CLUSTER;
	waiters = 0;
	gone = 0;
	for (agent : 0 .. AGENTS - 1) {
		if
		:: standing[agent] == ARRIVED -> waiters++
		:: standing[agent] != ARRIVED && HAS_EXITED(agent) -> gone++
		:: else
		fi
	}
	if
	:: waiters && waiters + gone == AGENTS ->
		for (agent : 0 .. AGENTS - 1) {
			if
			:: HAS_EXITED(agent) && standing[agent] != ARRIVED -> leave_behind(agent)
			:: else
			fi
		}
		hand_on();
		for (agent : 0 .. AGENTS - 1) {
			if
			:: WAITS_ON(at[agent]) == bar ->
				observe(agent);
				standing[agent] = OUT;
				at[agent] = released_to[wait_first[at[agent] - FIRST_WAITING]]
			:: else -> standing[agent] = (standing[agent] == ARRIVED -> PASSED : OUT)
			fi
		}
	:: else
	fi
}
