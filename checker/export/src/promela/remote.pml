
/* Whether a row works in the shared memory of another CTA all of whose agents have exited. */
inline reach() {
	found = 0;
	for (cta : 0 .. CTAS - 1) {
		if
		:: (step_reaches[row] >> cta) & 1 ->
			count_present(cta);
			found = found || !present
		:: else
		fi
	}
}
