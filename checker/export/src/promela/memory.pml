/* ---- Order in time and order in memory -------------------------------------------------------------------- */

/* What each holder knows, as sets of accesses: agents first, then what generations of barriers carry, then what the
   target needs besides. An access is the last write to a location, or an agent's last read or atomic of it since. Its
   own agent knows it in time as long as it matters. */
WORD in_time[HOLDERS * WORDS];
WORD in_memory[HOLDERS * WORDS];
#define GENERATION(bar) (AGENTS + (bar))

hidden short entry, word, holder, location;
hidden byte kind, settled;
hidden byte touched[LOCATIONS];

#define KNOWS(set, holder, access) ((set[(holder) * WORDS + (access) / BITS] >> ((access) % BITS)) & 1)
#define ADD(set, holder, access) \
	set[(holder) * WORDS + (access) / BITS] = set[(holder) * WORDS + (access) / BITS] | (1 << ((access) % BITS))
#define REMOVE(set, holder, access) \
	set[(holder) * WORDS + (access) / BITS] = set[(holder) * WORDS + (access) / BITS] & ~(1 << ((access) % BITS))
#define PASS(set, from, to) set[(to) * WORDS + word] = set[(to) * WORDS + word] | set[(from) * WORDS + word]

#define READ 0
#define WRITE 1
#define ATOMIC 2
/* A write by a copy that an agent began: not even the agent knows when it is made, before it has waited. */
#define COPY 3
#define OVERWRITES(kind) ((kind) == WRITE || (kind) == COPY)
/* Two accesses of one location conflict: one of them writes, and not both are atomic. */
#define CONFLICT(one, two) (OVERWRITES(one) || OVERWRITES(two) || (one) != (two))
/* The accesses of a kind to a location have numbers in a row, by agent. */
#define SLOT(location, kind) ((location) * KINDS + (kind))
#define IS_SLOT(slot, who) (slot_of[slot] != NO_ACCESS && (who) >= slot_first[slot] && (who) <= slot_last[slot])
#define ACCESS_OF(slot, who) (slot_of[slot] + (who) - slot_first[slot])
#define NO_ACCESS 32767
#define SHARED 0

/* With fences an access becomes known in memory by its own agent's fence only, and an earlier read needs none. Without,
   its own agent knows it in memory at once. */
#define NEEDS_MEMORY(kind) (!HAS_FENCES || (kind) != READ)

/* Forgets an access: nobody and nothing knows it any more. */
inline forget_access() {
	for (holder : 0 .. HOLDERS - 1) {
		REMOVE(in_time, holder, entry);
		REMOVE(in_memory, holder, entry)
	}
}

/* Agent _pid accesses the locations that are touched, or begins a copy to them. */
inline access_memory() {
	kind = step_kind[row];
	for (other : 0 .. step_touches[row] - 1) {
		touched[locations[step_locations[row] + other]] = 1
	}
	for (location : 0 .. LOCATIONS - 1) {
		if
		:: touched[location] -> compare_with_earlier()
		:: else
		fi
	}
	for (location : 0 .. LOCATIONS - 1) {
		if
		:: touched[location] -> replace_earlier(); touched[location] = 0
		:: else
		fi
	}
	at[_pid] = step_go[row]
}

/* Every earlier access by another agent that conflicts has to be known. */
inline compare_with_earlier() {
	for (other : 0 .. KINDS - 1) {
		for (agent : 0 .. AGENTS - 1) {
			if
			:: (agent != _pid || other == COPY) && CONFLICT(kind, other) && IS_SLOT(SLOT(location, other), agent) ->
				entry = ACCESS_OF(SLOT(location, other), agent);
				if
				:: !EXISTS(entry)
				:: EXISTS(entry) && !KNOWS(in_time, _pid, entry) -> note_data_race
				:: KNOWS(in_time, _pid, entry) && NEEDS_MEMORY(other) && !KNOWS(in_memory, _pid, entry) ->
					note_missing_fence
				:: else
				fi
			:: else
			fi
		}
	}
}

/* A write replaces all of the location, a read or an atomic the same agent's earlier one. */
inline replace_earlier() {
	for (other : 0 .. KINDS - 1) {
		for (agent : 0 .. AGENTS - 1) {
			if
			:: (OVERWRITES(kind) || kind == other && agent == _pid) && IS_SLOT(SLOT(location, other), agent) ->
				entry = ACCESS_OF(SLOT(location, other), agent);
				forget_access()
			:: else
			fi
		}
	}
	entry = ACCESS_OF(SLOT(location, kind), _pid);
	if
	:: kind == COPY ->
		ADD(in_time, RECORD, entry);
		ADD(in_time, IN_FLIGHT(slot), entry);
		ADD(in_memory, IN_FLIGHT(slot), entry)
	:: kind != COPY && !HAS_FENCES -> ADD(in_time, _pid, entry); ADD(in_memory, _pid, entry)
	:: else -> ADD(in_time, _pid, entry)
	fi
}

/* An access that every other live agent knows in all that is needed can conflict with nothing any more. */
inline forget_settled() {
	for (entry : 0 .. ACCESSES - 1) {
		settled = EXISTS(entry);
		for (agent : 0 .. AGENTS - 1) {
			settled = settled && (agent == owner_of[entry] && kind_of[entry] != COPY || HAS_EXITED(agent) ||
				KNOWS(in_time, agent, entry) &&
				(!NEEDS_MEMORY(kind_of[entry]) || KNOWS(in_memory, agent, entry)))
		}
		if
		:: settled -> forget_access()
		:: else
		fi
	}
}
