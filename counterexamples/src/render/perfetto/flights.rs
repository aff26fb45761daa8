//! Phases of objects, and what is in flight for them.

use serde_json::json;

use super::{Entry, STEP, Writer};
use crate::objects::{Flight, Phase, flights, phases};

impl Writer<'_> {
    /// Each object's phases, one after the other.
    pub(super) fn phases(&mut self) {
        let end = (self.trace.steps.len() as u64 + 1) * STEP;
        for (barrier, all) in phases(self.trace) {
            let name = self.short(barrier);
            for Phase { number, begins, stirs, ends, complete } in all {
                let (from, until) = (begins as u64 * STEP, ends.map_or(end, |time| time as u64 * STEP));
                let told = match (complete, ends) {
                    (true, _) => format!("{name} phase {number}"),
                    (false, None) => format!("{name} phase {number}: not complete"),
                    (false, Some(_)) => format!("{name} phase {number}: its object's life ends"),
                };
                let args =
                    json!({ "parity": number & 1, "complete": complete, "first_event_in_step": stirs });
                self.slice(self.barrier(barrier), from, until, &told, "phase", args);
            }
        }
    }

    /// From where something is begun to where it lands, as an arrow, and as a span of its own, since several
    /// may be in flight at a time. What never lands has neither an end nor a head.
    pub(super) fn flights(&mut self) {
        for (number, flight) in flights(self.trace).iter().enumerate() {
            self.flight(number as u64 + 1, flight);
        }
    }

    fn flight(&mut self, number: u64, flight: &Flight) {
        let track = self.barrier(flight.barrier);
        let to = flight.writes.as_ref().map(|location| format!(" to {location}")).unwrap_or_default();
        let name = format!("{}{to} for {}", flight.what, self.short(flight.barrier));
        let name = name.strip_prefix("the ").unwrap_or(&name);
        let middle = |time: usize| (time as u64 - 1) * STEP + STEP / 2;
        let entry = || Entry { cat: Some("flight"), id: Some(number), ..Entry::default() };
        let args = json!({ "bytes": flight.bytes, "line": flight.line, "lands": flight.landed.is_some() });
        if let Some(time) = flight.issued {
            self.push(track, "b", middle(time), name, Entry { args: Some(args), ..entry() });
            self.push(self.agent(flight.agent), "s", middle(time), name, entry());
        }
        if let (Some(_), Some(time)) = (flight.issued, flight.landed) {
            self.push(track, "e", middle(time), name, entry());
            self.push(track, "f", middle(time), name, Entry { bp: Some("e"), ..entry() });
        }
    }
}
