/* ---- BAR.SYNC, BAR.ARV, BAR.RED: BCU instruction set ------------------------------------------------------ */

/* A barrier is idle while nothing has arrived. Numbers are in warps: every executed instruction counts for 32 threads. */
byte arrivals[BARRIERS];
/* 0: every warp that has not exited. */
byte expected[BARRIERS];
SET arrived[BARRIERS];
/* Whether the id has been used by SYNC and ARV, or by RED, in any generation. */
byte used_as[BARRIERS];
/* 0 for SYNC and ARV, otherwise the operator of the reduction. */
byte operator[BARRIERS];
/* POPC: true predicates; AND: whether one was false; OR: whether one was true. */
short tally[BARRIERS];

#define PLAIN 1
#define RED   2
#define POPC  1
#define AND   2
#define OR    3
#define USAGE(operator) (operator -> RED : PLAIN)

/* A fragment of agent _pid arrives at barrier bar. */
inline arrive() {
	bar = step_bar[row];
	if
	:: used_as[bar] && used_as[bar] != USAGE(step_operator[row]) -> end_mixed_red
	/* A state that was put back is of a kind, too. */
	:: arrivals[bar] && USAGE(operator[bar]) != USAGE(step_operator[row]) -> end_mixed_red
	:: arrivals[bar] && operator[bar] != step_operator[row] -> end_mixed_red_op
	:: arrivals[bar] && expected[bar] != step_count[row] -> end_count_mismatch
	:: else ->
		if
		:: step_truncated[row] -> note_register_truncated
		:: else
		fi;
		if
		:: arrived[bar] & MINE -> note_repeated_arrival
		:: else
		fi;
		used_as[bar] = USAGE(step_operator[row]);
		operator[bar] = step_operator[row];
		expected[bar] = step_count[row];
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
}

/* Completes the generation of barrier bar if its count is reached. */
inline settle() {
	waiters = 0;
	gone = 0;
	for (agent : 0 .. AGENTS - 1) {
		if
		:: WAITS_ON(at[agent]) == bar -> waiters++
		:: HAS_EXITED(agent) -> gone++
		:: else
		fi
	}
	if
	:: arrivals[bar] && (expected[bar] -> arrivals[bar] == expected[bar] : arrivals[bar] + gone == AGENTS) ->
		if
		:: !waiters -> note_nobody_waits
		:: else
		fi;
		result = (operator[bar] == AND -> !tally[bar] : tally[bar]);
		if
		:: !expected[bar] -> take_in_exited()
		:: else
		fi;
		for (agent : 0 .. AGENTS - 1) {
			if
			:: WAITS_ON(at[agent]) == bar ->
				if
				:: operator[bar] && wait_unfetched[at[agent] - FIRST_WAITING] -> note_result_overwritten
				:: else
				fi;
				learn();
				at[agent] = released_to[wait_first[at[agent] - FIRST_WAITING] + (operator[bar] -> result : 0)]
			:: else
			fi
		}
		forget_generation();
		arrivals[bar] = 0;
		expected[bar] = 0;
		arrived[bar] = 0;
		operator[bar] = 0;
		tally[bar] = 0
	:: else
	fi
}

/* More fragments stand at an arrival with this count than the generation has room for. */
#define RACE(bar, count, standing) \
	(!ended && (standing) > (!arrivals[bar] -> count : (expected[bar] == count -> count - arrivals[bar] : 32 * AGENTS)))
#define HOLDS_ARRIVALS(bar) (arrivals[bar] > 0)
