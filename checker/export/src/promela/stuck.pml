
/* ---- stuck-agent: from some state on nothing can unblock an agent, and others can run for ever --------------------
   Looked for by a run of its own, with -DSTUCK_AGENT: in every state, for every agent that is blocked, one continuation is
   followed. Agents take turns, and a throw of the dice takes one of the alternatives. It is given up once the agent is
   released; where it goes round for ever the agent may be stuck, and where no alternatives differ it is. */
#ifdef STUCK_AGENT

/* The agent that is watched, plus one; whose turn it is then, AGENTS if nobody can step. What is in flight lands first. */
byte watched, turn, dice;

/* A period that is prime meets every throw at every place of a loop. */
#define FACES 251
#define THROW ((dice * dice % FACES * dice % FACES) >> 2)
#define MY_TURN (!watched || turn == _pid)
#define LANDING_GOES (!watched || turn == LANDING)
#define CHOSEN(pick) (!watched || THROW % alternatives[at[_pid]] == (pick))

inline next_turn() {
	note_last();
	if
	:: !watched
	:: watched && !BLOCKED(at[watched - 1]) -> ended = 1
	:: else ->
		dice = (dice + HAS_ALTERNATIVES) % FACES;
		turn = AGENTS;
		for (agent : 1 .. AGENTS) {
			other = (LAST_AGENT + agent) % AGENTS;
			if
			:: turn == AGENTS && HAS_STEPS(at[other]) -> turn = other
			:: else
			fi
		}
		landings_first()
	fi
}

#else
#define MY_TURN true
#define LANDING_GOES true
#define CHOSEN(pick) true
inline next_turn() {
	skip
}
#endif
