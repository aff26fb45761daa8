
/* ---- mbarrier objects: PTX ISA, sections on mbarrier and on asynchronous copies with complete_tx ------------ */

/* Objects are numbered among the barriers from BARRIERS on. Of each: whether it is live; the arrivals that the next phase
   expects; those and the bytes that the present phase still waits for, below 0 where more bytes have come than were
   announced; whether the present phase is odd; whether some wait has seen the one before complete. */
hidden byte object;
hidden int arriving, more;
#define MOST_BYTES 1048575
#define SIGNED_BYTES (step_delivers[row] -> 0 - step_bytes[row] : step_bytes[row])

/* The phase of a parity is complete if it is not the present one; that of a token if it is the one before. */
#define OF_TOKEN 2
#define HAS_NO_PHASE (step_phase[row] == OF_TOKEN && TOKEN(_pid) != PRESENT && TOKEN(_pid) != BEFORE)
#define IS_COMPLETE  (step_phase[row] == OF_TOKEN -> TOKEN(_pid) == BEFORE : step_phase[row] != odd[object])

inline look_up_object() {
	bar = step_bar[row];
	object = bar - BARRIERS;
	arriving = step_count[row];
	more = SIGNED_BYTES
}

/* Arrivals that are made and bytes that are announced or, below 0, delivered are counted: the phase may be complete. */
inline count_in() {
	if
	:: arriving && !seen[object] -> end_unobserved_phase
	:: arriving > missing[object] -> end_over_arrival
	:: bytes[object] + more > MOST_BYTES || bytes[object] + more < 0 - MOST_BYTES -> end_tx_range
	:: else ->
		missing[object] = missing[object] - arriving;
		bytes[object] = bytes[object] + more;
		if
		:: missing[object] || bytes[object] > 0
		:: !missing[object] && bytes[object] < 0 -> end_over_delivery
		:: !missing[object] && !bytes[object] && step_no_complete[row] -> end_no_complete
		:: else -> complete_phase()
		fi
	fi
}

/* The next phase begins; those who wait go on. */
inline complete_phase() {
	missing[object] = due[object];
	odd[object] = !odd[object];
	seen[object] = false;
	hand_on();
	for (agent : 0 .. AGENTS - 1) {
		age_token();
		if
		:: WAITS_ON(at[agent]) == bar ->
			seen[object] = true;
			observe(agent);
			at[agent] = released_to[wait_first[at[agent] - FIRST_WAITING]]
		:: else
		fi
	}
}

inline init_object() {
	look_up_object();
	if
	:: live[object] -> end_mbarrier_live
	:: else ->
		live[object] = true;
		due[object] = arriving;
		missing[object] = arriving;
		seen[object] = true;
		outdate_tokens();
		forget_phases();
		at[_pid] = step_go[row]
	fi
}

inline inval_object() {
	look_up_object();
	waiters = 0;
	for (agent : 0 .. AGENTS - 1) {
		if
		:: WAITS_ON(at[agent]) == bar -> waiters++
		:: else
		fi
	}
	count_flying();
	if
	:: !live[object] -> end_mbarrier_not_live
	:: live[object] && waiters -> end_mbarrier_live
	:: else ->
		live[object] = false;
		due[object] = 0;
		missing[object] = 0;
		bytes[object] = 0;
		odd[object] = false;
		seen[object] = false;
		outdate_tokens();
		forget_phases();
		at[_pid] = step_go[row]
	fi
}

/* Lanes of agent _pid arrive, and announce bytes with it. Dropped arrivals are not expected any more from the next phase
   on, which has to expect some. */
inline arrive_on_object() {
	look_up_object();
	if
	:: !live[object] -> end_mbarrier_not_live
	:: live[object] && step_drops[row] && arriving >= due[object] -> end_over_arrival
	:: else ->
		if
		:: step_drops[row] -> due[object] = due[object] - arriving
		:: else
		fi;
		keep_token();
		publish_to_phase();
		at[_pid] = step_go[row];
		count_in()
	fi
}

/* Bytes are announced or delivered by hand. */
inline count_bytes() {
	look_up_object();
	if
	:: !live[object] -> end_mbarrier_not_live
	:: else ->
		at[_pid] = step_go[row];
		count_in()
	fi
}

/* Agent _pid waits for a phase. */
inline wait_for_phase() {
	look_up_object();
	if
	:: !live[object] -> end_mbarrier_not_live
	:: live[object] && HAS_NO_PHASE -> end_stale_token
	:: live[object] && !HAS_NO_PHASE && !IS_COMPLETE -> at[_pid] = step_blocks[row]
	:: else ->
		seen[object] = true;
		observe(_pid);
		at[_pid] = step_go[row]
	fi
}

/* Agent _pid asks whether a phase is complete, and goes on; it may be denied a yes. */
inline ask() {
	look_up_object();
	if
	:: !live[object] -> end_mbarrier_not_live
	:: live[object] && HAS_NO_PHASE -> end_stale_token
	:: live[object] && !HAS_NO_PHASE && (!IS_COMPLETE || step_denies[row]) -> at[_pid] = step_go[row]
	:: else ->
		seen[object] = true;
		observe(_pid);
		at[_pid] = step_answered[row]
	fi
}

#define OBJECT_HOLDS_ARRIVALS(object) (live[object] && (missing[object] != due[object] || bytes[object] != 0))
