//! Traces of barrier protocols: schema, replay, explanation, rendering.
