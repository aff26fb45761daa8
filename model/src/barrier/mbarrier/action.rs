//! Instructions on mbarrier objects, and what they do.

use super::{Barrier, COMPLETION, Delivery, Live, MOST, Moved, id};
use crate::barrier::{
    Applied, Around, Arrival, BarrierId, Blocking, Dependence, Effect, Instruction, NotModelled, Part,
    Progress, Refusal, Seat, Standing, Token,
};
use crate::program::{Begun, Reach, Scope, Semantics, Spaces};
use crate::rule::Rule;

/// An instruction on an object, operands checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Action {
    /// The object's number.
    pub object: u32,
    /// What it does.
    pub what: What,
}

/// What an instruction does, for all lanes that execute it together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// Begins its life, with so many arrivals expected.
    Init(u32),
    /// Ends its life.
    Inval,
    /// Arrives.
    Arrive {
        /// Arrivals.
        count: u32,
        /// Bytes announced.
        bytes: i32,
        /// Arrivals that later phases do not expect any more.
        dropped: u32,
        /// It must not complete the phase.
        no_complete: bool,
        /// What travels with it.
        how: Arrival,
        /// What the agent keeps of it.
        kept: Keeping,
    },
    /// Announces bytes, or, below 0, delivers them.
    CountBytes(i32),
    /// Waits for a phase.
    Wait(Phase, Acquire),
    /// Asks whether a phase is complete; it may give up though it is.
    Ask(Phase, Acquire, bool),
    /// Begins a copy of so many bytes.
    Copy(u32, Moved),
    /// Begins an arrival that lands later, of so many lanes.
    Commit(u32),
    /// The same for the `cp.async` of so many lanes.
    FillsArrive {
        /// Lanes.
        lanes: u32,
        /// The phase expects so many arrivals more.
        counted: bool,
        /// The landing publishes all that its agent knew, and not what the copies have written alone.
        publishes: bool,
    },
}

/// What a wait acquires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Acquire {
    /// All that the phase has published.
    Now,
    /// The same once a fence comes behind it that reaches so far (`.relaxed`).
    AtFence(Reach),
}

impl Acquire {
    /// The same as operands of a wait.
    fn ordering(self) -> Option<(Scope, Semantics)> {
        let nothing = Semantics { acquire: false, release: false, classes: Spaces::ALL };
        match self {
            Self::Now => None,
            Self::AtFence(Reach::Cta) => Some((Scope::Workgroup, nothing)),
            Self::AtFence(Reach::Cluster) => Some((Scope::Device, nothing)),
        }
    }
}

/// What an agent keeps of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keeping {
    /// Nothing.
    Nothing,
    /// The token of the phase.
    Token,
    /// The same, and it holds others of the object besides.
    OneMore,
}

impl Keeping {
    /// The seat with the token. All tokens of an object that an agent holds name one phase.
    ///
    /// # Errors
    /// Those that it holds are of an earlier one.
    // clause: ptx.mbarrier-token
    fn on(self, seat: Seat) -> Result<Seat, Refusal> {
        match self {
            Self::Nothing => Ok(seat),
            Self::OneMore if seat.token != Token::Present => {
                Err(Refusal::NotModelled(NotModelled::SeveralTokens))
            }
            Self::Token | Self::OneMore => Ok(Seat { token: Token::Present, ..seat }),
        }
    }
}

/// A phase that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// That of a parity: whether it is odd.
    Parity(bool),
    /// That of the token which the agent holds.
    OfToken,
}

impl Phase {
    /// Whether the phase is complete.
    ///
    /// # Errors
    /// `stale-token`.
    fn is_complete(self, live: Live, seat: Seat) -> Result<bool, Rule> {
        match (self, seat.token) {
            // clause: ptx.mbarrier-parity-wait
            (Self::Parity(odd), _) => Ok(odd != live.odd),
            // clause: ptx.mbarrier-token-wait
            (Self::OfToken, Token::Present) => Ok(false),
            (Self::OfToken, Token::Before) => Ok(true),
            (Self::OfToken, Token::None | Token::Stale) => Err(Rule::StaleToken),
        }
    }
}

impl Action {
    fn live(barrier: Barrier) -> Result<Live, Rule> {
        match barrier {
            Barrier::Live(live) => Ok(live),
            // clause: ptx.mbarrier-live
            Barrier::Dead => Err(Rule::MbarrierNotLive),
        }
    }

    fn issue(self, live: Live, seat: Seat, arrivals: u32, bytes: u32, moved: Moved) -> AppliedHere {
        let (odd, publishes) = (live.odd, arrivals > 0);
        let delivery = Delivery { object: self.object, arrivals, bytes, odd, moved, publishes, slot: None };
        Applied::Leaves(effect(live, seat, Progress::Pass, false), delivery)
    }

    /// Arrivals of copies by `cp.async`, which land later.
    // clause: ptx.cp-async-arrive
    fn issue_for_fills(
        self,
        live: Live,
        seat: Seat,
        lanes: u32,
        (counted, publishes): (bool, bool),
    ) -> Result<AppliedHere, Rule> {
        // clause: ptx.cp-async-arrive-counted
        let more = if counted { lanes } else { 0 };
        let pending = live.pending.checked_add(more).filter(|pending| *pending <= MOST);
        let live = Live { pending: pending.ok_or(Rule::CountRange)?, ..live };
        let (object, odd, moved) = (self.object, live.odd, Moved::default());
        let delivery = Delivery { object, arrivals: lanes, bytes: 0, odd, moved, publishes, slot: None };
        let effect = effect(live, seat, Progress::Pass, false);
        Ok(if counted { Applied::LeavesCounted(effect, delivery) } else { Applied::Leaves(effect, delivery) })
    }
}

type AppliedHere = Applied<Barrier, Delivery>;

fn effect(live: Live, seat: Seat, progress: Progress, completed: bool) -> Effect<Barrier> {
    let seat = Seat { waiting: progress == Progress::Block, ..seat };
    let completed = completed.then_some(COMPLETION);
    Effect { barrier: Barrier::Live(live), seat, progress, completed, notes: &[] }
}

impl Instruction for Action {
    type Barrier = Barrier;

    #[inline]
    fn barrier(&self) -> BarrierId {
        id(self.object)
    }

    fn part(&self) -> Part {
        match self.what {
            What::Init(_) | What::Inval => Part::Begins,
            // With `.noComplete` too, which commutes only with what cannot be last: see `must_not_complete`.
            What::Arrive { .. } | What::Commit(_) | What::FillsArrive { .. } => Part::Arrives,
            What::CountBytes(_) | What::Copy(..) => Part::Counts,
            What::Wait(..) => Part::Observes,
            What::Ask(..) => Part::Asks,
        }
    }

    fn standing(&self) -> Option<Standing> {
        None
    }

    fn dependence(&self, _release: bool) -> Dependence {
        match self.what {
            // Where memory keeps what its agent knows depends on what else is in flight.
            What::Copy(..) | What::Commit(_) | What::FillsArrive { .. } => Dependence::More,
            // All tokens become stale.
            What::Init(_) | What::Inval => Dependence::More,
            _ => Dependence::Barrier,
        }
    }

    fn must_not_complete(&self) -> bool {
        matches!(self.what, What::Arrive { no_complete: true, .. })
    }

    // clause: ptx.mbarrier-relaxed-wait
    fn ordering(&self) -> Option<(Scope, Semantics)> {
        match self.what {
            What::Wait(_, acquire) | What::Ask(_, acquire, _) => acquire.ordering(),
            _ => None,
        }
    }

    fn with_pick(&self, pick: u32) -> Self {
        match self.what {
            What::Ask(phase, acquire, gives_up) => {
                Self { what: What::Ask(phase, acquire, gives_up && pick > 0), ..*self }
            }
            _ => *self,
        }
    }

    fn blocking(&self) -> Blocking {
        match self.what {
            What::Wait(..) => Blocking::Sometimes,
            What::Ask(..) => Blocking::Asks,
            _ => Blocking::Never,
        }
    }

    fn may_overtake_wait(&self, _seat: Seat) -> bool {
        false
    }

    fn is_alone(&self) -> bool {
        false
    }

    fn is_by_fragment(&self) -> bool {
        true
    }

    fn as_wait(&self) -> Option<Self> {
        match self.what {
            What::Ask(phase, acquire, _) => Some(Self { what: What::Wait(phase, acquire), ..*self }),
            _ => None,
        }
    }

    fn begins(&self) -> [Option<Begun>; 2] {
        match self.what {
            What::Copy(_, moved) => moved.accesses(),
            _ => [None; 2],
        }
    }

    fn stands_for_fills(&self) -> Option<u32> {
        matches!(self.what, What::FillsArrive { .. }).then_some(self.object)
    }

    fn most_counted(&self, _threads: u32) -> Option<u32> {
        None
    }

    fn apply(
        &self,
        barrier: &Barrier,
        seat: Seat,
        pick: u32,
        around: &impl Around,
    ) -> Result<AppliedHere, Refusal> {
        Ok(match self.what {
            What::Init(count) => match barrier {
                Barrier::Dead => Applied::Writes(Barrier::Live(Live::new(count))),
                // clause: ptx.mbarrier-init-once
                Barrier::Live(_) => return Err(Rule::MbarrierLive.into()),
            },
            // clause: ptx.mbarrier-inval
            What::Inval => match Self::live(*barrier)? {
                Live { waited, .. } if waited || around.is_in_flight(self.barrier()) => {
                    return Err(Rule::MbarrierLive.into());
                }
                Live { .. } => Applied::Writes(Barrier::Dead),
            },
            What::Arrive { count, bytes, dropped, no_complete, how, kept } => {
                let live = Self::live(*barrier)?;
                // clause: ptx.mbarrier-arrive-drop
                let expected = live.expected.checked_sub(dropped).filter(|left| *left > 0);
                let expected = expected.ok_or(Rule::OverArrival)?;
                let (live, completed) = Live { expected, ..live }.arrive(count, bytes)?;
                // clause: ptx.mbarrier-no-complete
                if completed && no_complete {
                    return Err(Rule::NoComplete.into());
                }
                Applied::Arrives(effect(live, kept.on(seat)?, Progress::Pass, completed), how)
            }
            What::CountBytes(bytes) => {
                let (live, completed) = Self::live(*barrier)?.count_bytes(bytes)?;
                Applied::Counts(effect(live, seat, Progress::Pass, completed))
            }
            What::Wait(phase, acquire) => {
                let live = Self::live(*barrier)?;
                let (live, progress) = live.wait(phase.is_complete(live, seat)?);
                // clause: ptx.mbarrier-acquire
                Applied::Waits(effect(live, seat, progress, false), acquire.ordering())
            }
            // clause: ptx.mbarrier-test-wait, ptx.mbarrier-try-wait
            What::Ask(phase, _, gives_up) => {
                let live = Self::live(*barrier)?;
                let complete = phase.is_complete(live, seat)? && !(gives_up && pick > 0);
                let live = if complete { live.wait(true).0 } else { live };
                Applied::Asks(effect(live, seat, Progress::Pass, false), complete)
            }
            // clause: ptx.bulk-copy-completes
            What::Copy(bytes, moved) => self.issue(Self::live(*barrier)?, seat, 0, bytes, moved),
            // clause: ptx.commit-arrives
            What::Commit(lanes) => self.issue(Self::live(*barrier)?, seat, lanes, 0, Moved::default()),
            What::FillsArrive { lanes, counted, publishes } => {
                self.issue_for_fills(Self::live(*barrier)?, seat, lanes, (counted, publishes))?
            }
        })
    }
}
