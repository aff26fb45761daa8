//! What surrounds an agent, the same in all its configurations.

use super::facts::Facts;
use super::trail::Trail;
use crate::patience::Patience;
use crate::program::{AgentId, Code, LocationId, Program, RoleId};

/// The fixed surroundings of an agent: its program, and who it is.
#[derive(Clone, Copy, Debug)]
pub struct Context<'p> {
    /// The protocol.
    pub program: &'p Program,
    /// The code that the agent runs.
    pub code: &'p Code,
    /// What is known of that code.
    pub facts: &'p Facts,
    /// The agent's role.
    pub role: RoleId,
    /// The agent.
    pub agent: AgentId,
    /// How long its local computation is followed.
    pub patience: &'p Patience,
    /// The locations whose accesses are followed, in order, where not all are: other accesses are invisible.
    pub watched: Option<&'p [LocationId]>,
    /// Where it is noted what the agent comes to, if somebody wants to know.
    pub trail: Option<&'p Trail>,
}

impl Context<'_> {
    /// The CTA of the agent.
    #[must_use]
    pub fn cta(&self) -> u32 {
        self.program.cta_of(self.agent)
    }
}
