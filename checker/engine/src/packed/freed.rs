//! Freeing what is large.

/// Bytes that are freed at once.
const SOON_FREED: u64 = 64 << 20;

/// Frees something of so many bytes beside whatever comes next: to free gigabytes in small pieces takes
/// seconds, and no verdict has to wait for that.
pub(crate) fn free_beside<T: Send + 'static>(bytes: u64, something: T) {
    if bytes > SOON_FREED {
        // Without threads it is freed here.
        drop(std::thread::Builder::new().name("free".to_owned()).spawn(move || drop(something)));
    }
}
