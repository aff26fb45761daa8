
hidden byte present, any, cta;

/* Counts the agents of a CTA that have not exited. */
inline count_present(which) {
	present = 0;
	for (agent : (which) * CTA_SIZE .. (which) * CTA_SIZE + CTA_SIZE - 1) {
		if
		:: HAS_EXITED(agent)
		:: else -> present++
		fi
	}
}
