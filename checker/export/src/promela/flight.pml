
/* ---- What is in flight: copies, which deliver bytes, and commits, which arrive -------------------------------- */

/* In each slot something that has yet to land, those in use first and in order: the first row of the same operation, and
   whether it was begun in an odd phase; 0 is an empty slot. It lands at any later time, as a step of process landing. */
short flying[SLOTS];
byte aloft;
#define ROW_OF(slot)        ((flying[slot] - 1) / 2)
#define IS_OF_ODD(slot)     ((flying[slot] - 1) % 2)
/* The slot that is meant; 0 between steps. */
byte slot;
hidden byte gap;
hidden short flier;

/* Adds what is in flight to the barrier. */
inline count_flying() {
	for (gap : 0 .. aloft - 1) {
		if
		:: step_bar[ROW_OF(gap)] == bar -> waiters++
		:: else
		fi
	}
}

/* Agent _pid begins an operation. */
inline issue() {
	look_up_object();
	if
	:: !live[object] -> end_mbarrier_not_live
	:: live[object] && aloft == SLOTS -> cut(too_many_in_flight)
	:: else ->
		flier = 2 * step_operation[row] + odd[object] + 1;
		slot = aloft;
		do
		:: slot > 0 && flying[slot - 1] > flier ->
			flying[slot] = flying[slot - 1];
			move_knowledge(slot - 1, slot);
			slot--
		:: else -> break
		od;
		flying[slot] = flier;
		aloft++;
		take_off();
		slot = 0;
		at[_pid] = step_go[row]
	fi
}

/* What is in the slot lands. */
inline land() {
	row = ROW_OF(slot);
	look_up_object();
	reach();
	if
	:: found -> end_remote_after_exit
	:: !found && (!live[object] || odd[object] != IS_OF_ODD(slot)) -> end_stale_completion
	:: else ->
		deliver();
		for (gap : slot .. SLOTS - 2) {
			flying[gap] = flying[gap + 1];
			move_knowledge(gap + 1, gap)
		}
		aloft--;
		flying[aloft] = 0;
		slot = 0;
		count_in()
	fi
}

/* Whether a copy (commits: 0) or a commit (1) is in flight that a CTA has begun for itself whose agents have all exited. */
inline look_for_left(commits) {
	any = 0;
	for (gap : 0 .. aloft - 1) {
		row = ROW_OF(gap);
		count_present(HOME_OF(step_bar[row]));
		if
		:: !step_reaches[row] && !present && (step_count[row] > 0) == commits -> any = 1
		:: else
		fi
	}
	row = 0
}
