/* ---- NBARRIER: Intel vISA; arrive and wait of XeGPU, which lower to it ------------------------------------ */

/* A barrier is idle while it expects nobody. Producers and consumers expected, and there. */
byte producers_expected[BARRIERS];
byte consumers_expected[BARRIERS];
byte producers[BARRIERS];
byte consumers[BARRIERS];
/* Who has signalled in this generation, and who of them as a consumer. */
SET signalled[BARRIERS];
SET consuming[BARRIERS];
/* Whose completed generation has yet to be consumed by a wait. */
SET notified[BARRIERS];
/* Whose latest signal was a producer's only. */
SET produced_last[BARRIERS];

/* Agent _pid signals barrier bar. */
inline signal() {
	bar = step_bar[row];
	if
	:: producers_expected[bar] &&
	   (producers_expected[bar] != step_producers[row] || consumers_expected[bar] != step_consumers[row]) ->
		end_count_mismatch
	:: signalled[bar] & MINE -> end_repeated_arrival
	:: producers[bar] + step_produces[row] > step_producers[row] ||
	   consumers[bar] + step_consumes[row] > step_consumers[row] -> end_too_many_participants
	:: producers[bar] + step_produces[row] == step_producers[row] &&
	   consumers[bar] + step_consumes[row] == step_consumers[row] &&
	   (notified[bar] & (consuming[bar] | (step_consumes[row] -> MINE : 0))) -> end_lost_notification
	:: else ->
		if
		:: notified[bar] -> note_reuse_before_free
		:: else
		fi;
		producers_expected[bar] = step_producers[row];
		consumers_expected[bar] = step_consumers[row];
		producers[bar] = producers[bar] + step_produces[row];
		consumers[bar] = consumers[bar] + step_consumes[row];
		signalled[bar] = signalled[bar] | MINE;
		if
		:: step_consumes[row] ->
			consuming[bar] = consuming[bar] | MINE;
			produced_last[bar] = produced_last[bar] & ~MINE
		:: else -> produced_last[bar] = produced_last[bar] | MINE
		fi;
		publish();
		at[_pid] = step_go[row];
		if
		:: producers[bar] == producers_expected[bar] && consumers[bar] == consumers_expected[bar] -> complete()
		:: else
		fi
	fi
}

/* Both counters of barrier bar are full: its consumers are notified, and those who wait go on. */
inline complete() {
	for (agent : 0 .. AGENTS - 1) {
		if
		:: WAITS_ON(at[agent]) == bar ->
			learn();
			at[agent] = released_to[wait_first[at[agent] - FIRST_WAITING]]
		:: else ->
			if
			:: consuming[bar] & (1 << agent) ->
				keep();
				notified[bar] = notified[bar] | (1 << agent)
			:: else
			fi
		fi
	}
	forget_generation();
	producers_expected[bar] = 0;
	consumers_expected[bar] = 0;
	producers[bar] = 0;
	consumers[bar] = 0;
	signalled[bar] = 0;
	consuming[bar] = 0
}

/* Agent _pid waits on barrier bar. */
inline wait() {
	bar = step_bar[row];
	if
	:: notified[bar] & MINE ->
		notified[bar] = notified[bar] & ~MINE;
		take_out();
		at[_pid] = step_go[row]
	:: consuming[bar] & MINE -> at[_pid] = step_blocks[row]
	:: produced_last[bar] & MINE -> end_producer_waits
	:: else -> end_wait_without_arrive
	fi
}

/* Agent _pid exits. No barrier is released by that. */
inline leave() {
	for (bar : 0 .. BARRIERS - 1) {
		if
		:: (consuming[bar] | notified[bar]) & MINE -> note_missing_wait
		:: else
		fi
	}
	at[_pid] = EXITED
}

/* XeGPU: how many barriers subgroups have allocated, 0 before the first has. */
byte allocated;

inline allocate() {
	if
	:: step_number[row] < 1 || step_number[row] > 32 -> end_barrier_id_range
	:: allocated && allocated != step_number[row] -> end_count_mismatch
	:: else ->
		allocated = step_number[row];
		at[_pid] = step_go[row]
	fi
}

/* More agents stand at a signal with these counts, as producers or as consumers, than the generation has room for. */
#define ROOM(bar, number, there, same) (!producers_expected[bar] -> number : (same -> number - there : AGENTS))
#define SAME(bar, p, c) (producers_expected[bar] == p && consumers_expected[bar] == c)
#define RACE(bar, p, c, standing_producers, standing_consumers) (!ended && \
	((standing_producers) > ROOM(bar, p, producers[bar], SAME(bar, p, c)) || \
	 (standing_consumers) > ROOM(bar, c, consumers[bar], SAME(bar, p, c))))
#define HOLDS_ARRIVALS(bar) (producers_expected[bar] > 0)
