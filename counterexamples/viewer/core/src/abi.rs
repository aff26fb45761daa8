//! How a page calls this crate.
//!
//! Text goes in and out through two buffers of this module. To ask: `room(n)` gives the address of `n` bytes,
//! which the page fills with UTF-8; `open()` or `ask()` then reads them, and gives the length of an answer
//! that begins at `answer()`. No address comes from the page, so nothing here has to trust one: the only
//! thing that counts as unsafe is to give functions a name that may clash with another, and the four names
//! below occur once.
#![expect(unsafe_code, reason = "names for the host")]

use std::cell::RefCell;

use crate::{Session, answer};

#[derive(Default)]
struct Desk {
    question: Vec<u8>,
    answer: Vec<u8>,
    session: Option<Session>,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

fn at_the_desk<T>(act: impl FnOnce(&mut Desk) -> T) -> T {
    DESK.with_borrow_mut(act)
}

/// Room for a question of `length` bytes.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn room(length: usize) -> *mut u8 {
    at_the_desk(|desk| {
        desk.question = vec![0; length];
        desk.question.as_mut_ptr()
    })
}

/// Opens the trace that was written; the length of the answer.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn open() -> usize {
    told(|session, trace| {
        *session = Some(Session::open(trace)?);
        Ok("{}".to_owned())
    })
}

/// Answers the question that was written; the length of the answer.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn ask() -> usize {
    told(|session, question| Ok(session.as_mut().ok_or("no trace is open")?.ask(question)))
}

/// Where the answer begins.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn answer() -> *const u8 {
    at_the_desk(|desk| desk.answer.as_ptr())
}

fn told(reply: impl FnOnce(&mut Option<Session>, &str) -> Result<String, String>) -> usize {
    at_the_desk(|desk| {
        let question = std::mem::take(&mut desk.question);
        let text = std::str::from_utf8(&question).map_err(|_| "it is not UTF-8".to_owned());
        let reply = text.and_then(|text| reply(&mut desk.session, text));
        desk.answer = reply.unwrap_or_else(|message| answer::error(&message)).into_bytes();
        desk.answer.len()
    })
}
