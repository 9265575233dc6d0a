//! Remembered keys and values of one sequence.

use crate::DecoderConfig;
use crate::attention::HeadMemory;

const FIRST_CAPACITY: usize = 64;

/// Keys (transposed) and values (by row) of all layers; grows by doubling.
#[derive(Debug, Clone)]
pub(crate) struct KvCache {
    layers: Vec<LayerCache>,
    kv_heads: usize,
    dim: usize,
    /// `dim` rounded up to whole vectors.
    value_row: usize,
    capacity: usize,
    len: usize,
}

#[derive(Debug, Clone, Default)]
struct LayerCache {
    /// `[kv_heads][dim][capacity]`
    keys: Vec<f32>,
    /// `[kv_heads][capacity][value_row]`
    values: Vec<f32>,
}

impl KvCache {
    pub(crate) fn new(config: &DecoderConfig) -> Self {
        Self {
            layers: vec![LayerCache::default(); config.layers],
            kv_heads: config.kv_heads,
            dim: config.head_dim(),
            value_row: config.head_dim().next_multiple_of(16),
            capacity: 0,
            len: 0,
        }
    }

    /// Positions remembered.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Forgets all positions from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Makes `count` more positions count as remembered; they are written layer by layer.
    pub(crate) fn extend(&mut self, count: usize) {
        let want = self.len + count;
        if want > self.capacity {
            *self = self.copy_prefix(self.len, want.max(2 * self.capacity));
        }
        self.len = want;
    }

    /// A new cache with the first `len` positions of this one and room for at least `room`.
    pub(crate) fn copy_prefix(&self, len: usize, room: usize) -> Self {
        let capacity = room.max(FIRST_CAPACITY).next_multiple_of(32);
        let heads = self.kv_heads;
        let copy = |layer: &LayerCache| {
            let mut keys = vec![0.0; heads * self.dim * capacity];
            let mut values = vec![0.0; heads * capacity * self.value_row];
            if len > 0 {
                for (to, from) in keys.chunks_exact_mut(capacity).zip(layer.keys.chunks_exact(self.capacity))
                {
                    to[..len].copy_from_slice(&from[..len]);
                }
                let (to_head, from_head) = (capacity * self.value_row, self.capacity * self.value_row);
                for (to, from) in values.chunks_exact_mut(to_head).zip(layer.values.chunks_exact(from_head)) {
                    to[..len * self.value_row].copy_from_slice(&from[..len * self.value_row]);
                }
            }
            LayerCache { keys, values }
        };
        Self { layers: self.layers.iter().map(copy).collect(), capacity, len, ..*self }
    }

    /// Stores one position of one layer; `keys` and `values` hold all heads.
    pub(crate) fn write(&mut self, layer: usize, position: usize, keys: &[f32], values: &[f32]) {
        let cache = &mut self.layers[layer];
        for (line, &key) in cache.keys.chunks_exact_mut(self.capacity).zip(keys) {
            line[position] = key;
        }
        let head = self.capacity * self.value_row;
        for (lines, value) in cache.values.chunks_exact_mut(head).zip(values.chunks_exact(self.dim)) {
            let at = position * self.value_row;
            lines[at..at + self.dim].copy_from_slice(value);
        }
    }

    pub(crate) fn memory(&self, layer: usize, kv: usize) -> HeadMemory<'_> {
        let cache = &self.layers[layer];
        HeadMemory {
            keys: &cache.keys[kv * self.dim * self.capacity..],
            key_row: self.capacity,
            values: &cache.values[kv * self.capacity * self.value_row..],
            value_row: self.value_row,
        }
    }
}
