//! The paged KV cache: fixed-size blocks, shared by content, evicted oldest first.
//!
//! Modelled on vLLM's block pool. A block whose reference count falls to zero
//! keeps its content and joins the end of the free list; it can be taken back by
//! a request with the same prefix until the list hands it out for something new.

use rustc_hash::FxHashMap;

/// Chained hash of a prompt up to and including one full block.
pub type BlockHash = u64;

/// Index of a block in the pool.
pub(super) type BlockId = u32;

/// Marks the end of the free list.
const NONE: BlockId = BlockId::MAX;

#[derive(Debug, Clone)]
struct Block {
    references: u32,
    hash: Option<BlockHash>,
    previous: BlockId,
    next: BlockId,
}

/// All blocks of the cache.
#[derive(Debug)]
pub(super) struct BlockPool {
    blocks: Vec<Block>,
    by_hash: FxHashMap<BlockHash, BlockId>,
    first_free: BlockId,
    last_free: BlockId,
    free: usize,
}

impl BlockPool {
    /// An empty cache of `count` blocks.
    #[must_use]
    pub fn new(count: usize) -> BlockPool {
        let mut pool = BlockPool {
            blocks: vec![
                Block {
                    references: 0,
                    hash: None,
                    previous: NONE,
                    next: NONE
                };
                count
            ],
            by_hash: FxHashMap::default(),
            first_free: NONE,
            last_free: NONE,
            free: 0,
        };
        for id in 0..count {
            pool.push_free(id as BlockId);
        }
        pool
    }

    /// Blocks no request holds, cached content included.
    #[must_use]
    pub fn free_count(&self) -> usize {
        self.free
    }

    /// Share of the blocks held by requests, 0 to 1.
    #[must_use]
    pub fn used_share(&self) -> f64 {
        if self.blocks.is_empty() {
            return 0.0;
        }
        1.0 - self.free as f64 / self.blocks.len() as f64
    }

    /// How many leading blocks of a prompt are in the cache, and how many of
    /// those nobody holds (taking them uses up free blocks).
    #[must_use]
    pub fn cached_prefix(&self, hashes: &[BlockHash]) -> (usize, usize) {
        let mut idle = 0;
        for (count, hash) in hashes.iter().enumerate() {
            match self.by_hash.get(hash) {
                Some(&id) if self.blocks[id as usize].references == 0 => idle += 1,
                Some(_) => {}
                None => return (count, idle),
            }
        }
        (hashes.len(), idle)
    }

    /// Takes the cached blocks of `hashes`, as far as they are cached.
    pub fn share(&mut self, hashes: &[BlockHash]) -> Vec<BlockId> {
        let mut taken = Vec::with_capacity(hashes.len());
        for hash in hashes {
            let Some(&id) = self.by_hash.get(hash) else {
                break;
            };
            if self.blocks[id as usize].references == 0 {
                self.unlink(id);
            }
            self.blocks[id as usize].references += 1;
            taken.push(id);
        }
        taken
    }

    /// Takes `count` blocks for new content, the longest unused first, or none
    /// where fewer are free.
    pub fn allocate(&mut self, count: usize) -> Option<Vec<BlockId>> {
        if count > self.free {
            return None;
        }
        let mut taken = Vec::with_capacity(count);
        for _ in 0..count {
            let id = self.first_free;
            self.unlink(id);
            let block = &mut self.blocks[id as usize];
            block.references = 1;
            if let Some(hash) = block.hash.take() {
                self.by_hash.remove(&hash);
            }
            taken.push(id);
        }
        Some(taken)
    }

    /// Says what a full block holds, so that later prompts find it. The first
    /// block with some content keeps the name.
    pub fn name(&mut self, id: BlockId, hash: BlockHash) {
        if !self.by_hash.contains_key(&hash) && self.blocks[id as usize].hash.is_none() {
            self.by_hash.insert(hash, id);
            self.blocks[id as usize].hash = Some(hash);
        }
    }

    /// Gives blocks back. The end of a sequence is freed first, so that it is
    /// evicted before the beginning, which more prompts share.
    pub fn release(&mut self, ids: &[BlockId]) {
        for &id in ids.iter().rev() {
            let block = &mut self.blocks[id as usize];
            block.references -= 1;
            if block.references == 0 {
                self.push_free(id);
            }
        }
    }

    fn push_free(&mut self, id: BlockId) {
        let last = self.last_free;
        {
            let block = &mut self.blocks[id as usize];
            block.previous = last;
            block.next = NONE;
        }
        if last == NONE {
            self.first_free = id;
        } else {
            self.blocks[last as usize].next = id;
        }
        self.last_free = id;
        self.free += 1;
    }

    fn unlink(&mut self, id: BlockId) {
        let (previous, next) = {
            let block = &self.blocks[id as usize];
            (block.previous, block.next)
        };
        if previous == NONE {
            self.first_free = next;
        } else {
            self.blocks[previous as usize].next = next;
        }
        if next == NONE {
            self.last_free = previous;
        } else {
            self.blocks[next as usize].previous = previous;
        }
        self.free -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(pool: &mut BlockPool, hashes: &[BlockHash]) -> Vec<BlockId> {
        let ids = pool.allocate(hashes.len()).unwrap();
        for (id, hash) in ids.iter().zip(hashes) {
            pool.name(*id, *hash);
        }
        ids
    }

    #[test]
    fn released_blocks_stay_cached_until_their_room_is_needed() {
        let mut pool = BlockPool::new(4);
        let ids = filled(&mut pool, &[1, 2, 3]);
        pool.release(&ids);
        assert_eq!(pool.free_count(), 4);
        assert_eq!(pool.cached_prefix(&[1, 2, 3]), (3, 3));
        // One block was never used, so a first newcomer evicts nothing.
        let _first = pool.allocate(1).unwrap();
        assert_eq!(pool.cached_prefix(&[1, 2, 3]), (3, 3));
        // The next one takes the end of the sequence, not its beginning.
        let _second = pool.allocate(1).unwrap();
        assert_eq!(pool.cached_prefix(&[1, 2, 3]), (2, 2));
    }

    #[test]
    fn shared_blocks_are_held_until_the_last_holder_lets_go() {
        let mut pool = BlockPool::new(3);
        let first = filled(&mut pool, &[1, 2]);
        let second = pool.share(&[1, 2, 9]);
        assert_eq!(first, second);
        pool.release(&first);
        assert_eq!(pool.free_count(), 1);
        pool.release(&second);
        assert_eq!(pool.free_count(), 3);
    }

    #[test]
    fn nothing_is_taken_where_too_little_is_free() {
        let mut pool = BlockPool::new(2);
        assert!(pool.allocate(3).is_none());
        assert_eq!(pool.free_count(), 2);
    }

    #[test]
    fn a_prefix_counts_only_from_its_beginning() {
        let mut pool = BlockPool::new(4);
        let _ids = filled(&mut pool, &[1, 3]);
        assert_eq!(pool.cached_prefix(&[1, 2, 3]), (1, 0));
        assert_eq!(pool.cached_prefix(&[2, 3]), (0, 0));
    }
}
