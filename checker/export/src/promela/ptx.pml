/* ---- barrier{.cta}: PTX ISA, "Parallel Synchronization and Communication Instructions" -------------------- */

/* A barrier is idle while it expects nobody. Numbers are in warps: a warp counts for 32 threads whatever its lanes. */
byte expected[BARRIERS];
byte arrivals[BARRIERS];
SET arrived[BARRIERS];
/* Every arrival so far left the count out: the barrier waits for every warp that has not exited. */
bool for_all[BARRIERS];
/* 0 for sync and arrive, otherwise the operator of the reduction. */
byte operator[BARRIERS];
/* popc: true predicates; and: whether one was false; or: whether one was true. */
short tally[BARRIERS];

#define POPC 1
#define AND  2
#define OR   3

/* Exits complete a barrier that waits for all; by the reading of PTX 9.1 any on which somebody waits. */
#define COMPLETED_BY_EXITS (arrivals[bar] + gone == CTA_SIZE && (for_all[bar] || EXITS_RELEASE && waiters))

/* Agent _pid marks its warp's arrival at barrier bar. */
inline arrive() {
	bar = step_bar[row];
	if
	:: step_reserved[row] -> note_reserved_barrier
	:: else
	fi;
	if
	:: expected[bar] && operator[bar] != step_operator[row] && (!operator[bar] || !step_operator[row]) -> end_mixed_red
	:: expected[bar] && operator[bar] != step_operator[row] -> end_mixed_red_op
	:: expected[bar] && expected[bar] != step_count[row] -> end_count_mismatch
	:: arrived[bar] & MINE -> end_repeated_arrival
	:: else ->
		for_all[bar] = step_for_all[row] && (!expected[bar] || for_all[bar]);
		expected[bar] = step_count[row];
		operator[bar] = step_operator[row];
		arrived[bar] = arrived[bar] | MINE;
		arrivals[bar]++;
		if
		:: operator[bar] == POPC -> tally[bar] = tally[bar] + step_truths[row]
		:: operator[bar] == AND -> tally[bar] = tally[bar] || step_truths[row] < step_lanes[row]
		:: operator[bar] == OR -> tally[bar] = tally[bar] || step_truths[row] > 0
		:: else
		fi;
		publish();
		at[_pid] = step_go[row];
		settle()
	fi
}

/* The last lane of agent _pid exits, which may complete barriers that wait for all. */
inline leave() {
	at[_pid] = EXITED;
	for (bar : 0 .. BARRIERS - 1) {
		settle()
	}
	settle_cluster()
}

/* Completes the generation of barrier bar if nobody is missing. */
inline settle() {
	waiters = 0;
	gone = 0;
	for (agent : 0 .. AGENTS - 1) {
		if
		:: WAITS_ON(at[agent]) == bar -> waiters++
		:: HAS_EXITED(agent) && IN_CTA(agent, bar) && !(arrived[bar] & (1 << agent)) -> gone++
		:: else
		fi
	}
	if
	:: expected[bar] && (arrivals[bar] == expected[bar] || COMPLETED_BY_EXITS) ->
		if
		:: !waiters -> note_nobody_waits
		:: else
		fi;
		result = (operator[bar] == AND -> !tally[bar] : tally[bar]);
		if
		:: for_all[bar] || arrivals[bar] != expected[bar] -> take_in_exited()
		:: else
		fi;
		for (agent : 0 .. AGENTS - 1) {
			if
			:: WAITS_ON(at[agent]) == bar ->
				learn();
				at[agent] = released_to[wait_first[at[agent] - FIRST_WAITING] + (operator[bar] -> result : 0)]
			:: else
			fi
		}
		forget_generation();
		expected[bar] = 0;
		arrivals[bar] = 0;
		arrived[bar] = 0;
		for_all[bar] = false;
		operator[bar] = 0;
		tally[bar] = 0
	:: else
	fi
}

/* More warps stand at an arrival with this count than the generation has room for. */
#define RACE(bar, count, standing) \
	(!ended && (standing) > (!expected[bar] -> count : (expected[bar] == count && !for_all[bar] -> count - arrivals[bar] : AGENTS)))
#define HOLDS_ARRIVALS(bar) (expected[bar] > 0)
