//! What goes to a client with a question, and comes back with the answer: where the call stands.

/// Where a call stands.
pub(super) enum State {
    /// What a modern server wants back.
    Theirs(Option<String>),
    /// The number of a parked call.
    Parked(u64),
    /// The task of a modern server that the call became.
    Task(String),
}

const THEIRS: u8 = b't';
const NO_STATE: u8 = b'n';
const PARKED: u8 = b'p';
const TASK: u8 = b'j';

impl State {
    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Theirs(Some(state)) => [&[THEIRS], state.as_bytes()].concat(),
            Self::Theirs(None) => vec![NO_STATE],
            Self::Parked(number) => [&[PARKED][..], &number.to_be_bytes()].concat(),
            Self::Task(id) => [&[TASK], id.as_bytes()].concat(),
        }
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        match bytes.split_first()? {
            (&THEIRS, state) => Some(Self::Theirs(Some(String::from_utf8(state.to_vec()).ok()?))),
            (&NO_STATE, []) => Some(Self::Theirs(None)),
            (&TASK, id) => Some(Self::Task(String::from_utf8(id.to_vec()).ok()?)),
            (&PARKED, number) => Some(Self::Parked(u64::from_be_bytes(number.try_into().ok()?))),
            _ => None,
        }
    }
}
