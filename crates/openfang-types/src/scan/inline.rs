//! A stack whose first `N` elements live in place, so that small documents cost no allocation.
//! Past `N` everything moves to the heap and stays there, so that the elements are always one slice.

pub(super) struct InlineStack<T, const N: usize> {
    place: [T; N],
    heap: Vec<T>,
    len: usize,
}

impl<T: Copy + Default, const N: usize> InlineStack<T, N> {
    pub(super) fn new() -> Self {
        Self { place: [T::default(); N], heap: Vec::new(), len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn as_slice(&self) -> &[T] {
        if self.heap.is_empty() { &self.place[..self.len] } else { &self.heap }
    }

    pub(super) fn last_mut(&mut self) -> Option<&mut T> {
        if self.heap.is_empty() { self.place[..self.len].last_mut() } else { self.heap.last_mut() }
    }

    pub(super) fn push(&mut self, value: T) {
        if self.heap.is_empty() {
            if let Some(free) = self.place.get_mut(self.len) {
                *free = value;
                self.len += 1;
                return;
            }
            self.heap.extend_from_slice(&self.place);
        }
        self.heap.push(value);
        self.len = self.heap.len();
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.heap.truncate(len);
        self.len = self.len.min(len);
    }
}
