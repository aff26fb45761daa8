
/* How long ago the phase is whose token an agent holds. */
byte tokens[AGENTS * OBJECTS];
#define NO_TOKEN 0
#define PRESENT  1
#define BEFORE   2
#define STALE    3
#define TOKEN(agent) tokens[(agent) * OBJECTS + object]

inline keep_token() {
	if
	:: step_token[row] -> TOKEN(_pid) = PRESENT
	:: else
	fi
}

/* One more phase is complete. */
inline age_token() {
	if
	:: TOKEN(agent) == PRESENT || TOKEN(agent) == BEFORE -> TOKEN(agent) = TOKEN(agent) + 1
	:: else
	fi
}

/* The life of an object begins or ends. */
inline outdate_tokens() {
	for (agent : 0 .. AGENTS - 1) {
		if
		:: TOKEN(agent) != NO_TOKEN -> TOKEN(agent) = STALE
		:: else
		fi
	}
}
