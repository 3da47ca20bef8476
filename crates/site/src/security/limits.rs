use std::hash::{BuildHasher, Hash, RandomState};
use std::num::NonZeroU32;
use std::time::Duration;

use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

use super::address::Network;

/// Requests of one address, and of one account, in a minute.
const REQUESTS_PER_MINUTE: NonZeroU32 = at_most(600);
/// Uploads of one account, and from one address, in an hour.
const UPLOADS_PER_HOUR: NonZeroU32 = at_most(240);
/// Attempts to sign in or up from one address in an hour.
const SIGN_INS_PER_HOUR: NonZeroU32 = at_most(60);
/// Attempts to sign in to one account, wherever they come from, in an hour.
const SIGN_INS_PER_NAME_PER_HOUR: NonZeroU32 = at_most(20);
/// What is counted apart. Keys fall into so many buckets by a hash that nobody outside
/// can foresee: that bounds the memory, whoever comes from however many addresses.
const BUCKETS: u64 = 1 << 16;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

const fn at_most(count: u32) -> NonZeroU32 {
    match NonZeroU32::new(count) {
        Some(count) => count,
        None => NonZeroU32::MIN,
    }
}

/// How much is answered in a time. All may come at once; then it fills up evenly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Requests of one address, and of one account, in a minute.
    pub requests_per_minute: NonZeroU32,
    /// Uploads of one account, and from one address, in an hour.
    pub uploads_per_hour: NonZeroU32,
    /// Attempts to sign in or up from one address in an hour.
    pub sign_ins_per_hour: NonZeroU32,
    /// Attempts to sign in to one account, wherever they come from, in an hour.
    pub sign_ins_per_name_per_hour: NonZeroU32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            requests_per_minute: REQUESTS_PER_MINUTE,
            uploads_per_hour: UPLOADS_PER_HOUR,
            sign_ins_per_hour: SIGN_INS_PER_HOUR,
            sign_ins_per_name_per_hour: SIGN_INS_PER_NAME_PER_HOUR,
        }
    }
}

/// What requests count towards.
#[derive(Debug)]
pub(crate) struct Gates {
    requests_of_address: Gate<Network>,
    requests_of_account: Gate<i64>,
    uploads_of_address: Gate<Network>,
    uploads_of_account: Gate<i64>,
    sign_ins_of_address: Gate<Network>,
    sign_ins_of_name: Gate<String>,
}

impl Gates {
    /// Gates that nothing has passed yet.
    pub(crate) fn new(limits: &Limits) -> Gates {
        Gates {
            requests_of_address: Gate::new(limits.requests_per_minute, MINUTE),
            requests_of_account: Gate::new(limits.requests_per_minute, MINUTE),
            uploads_of_address: Gate::new(limits.uploads_per_hour, HOUR),
            uploads_of_account: Gate::new(limits.uploads_per_hour, HOUR),
            sign_ins_of_address: Gate::new(limits.sign_ins_per_hour, HOUR),
            sign_ins_of_name: Gate::new(limits.sign_ins_per_name_per_hour, HOUR),
        }
    }

    /// Counts a request of an address, before anything is done for it.
    pub(crate) fn request(&self, address: Network) -> Result<Budget, TooMany> {
        self.requests_of_address.pass(&address)
    }

    /// Counts a request of an account.
    pub(crate) fn request_of(&self, account_key: i64) -> Result<Budget, TooMany> {
        self.requests_of_account.pass(&account_key)
    }

    /// Counts an upload.
    pub(crate) fn upload(
        &self,
        address: Network,
        account_key: Option<i64>,
    ) -> Result<Budget, TooMany> {
        let budget = self.uploads_of_address.pass(&address)?;
        match account_key {
            Some(account_key) => Ok(budget.tighter(self.uploads_of_account.pass(&account_key)?)),
            None => Ok(budget),
        }
    }

    /// Counts an attempt to sign up, or to say who one is in some other way.
    pub(crate) fn attempt(&self, address: Network) -> Result<Budget, TooMany> {
        self.sign_ins_of_address.pass(&address)
    }

    /// Counts an attempt to sign in by a name, whether or not there is such an account.
    pub(crate) fn sign_in(&self, address: Network, name: &str) -> Result<Budget, TooMany> {
        let budget = self.attempt(address)?;
        Ok(budget.tighter(self.sign_ins_of_name.pass(&name.to_owned())?))
    }
}

/// One limit, counted for each key.
struct Gate<K> {
    limiter: Limiter,
    hash: RandomState,
    limit: NonZeroU32,
    refill: Duration,
    key: std::marker::PhantomData<fn(K)>,
}

type Limiter = RateLimiter<u64, DashMapStateStore<u64>, DefaultClock, StateInformationMiddleware>;

impl<K> std::fmt::Debug for Gate<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate")
            .field("limit", &self.limit)
            .field("refill", &self.refill)
            .finish_non_exhaustive()
    }
}

impl<K: Hash> Gate<K> {
    fn new(limit: NonZeroU32, per: Duration) -> Gate<K> {
        let refill = (per / limit.get()).max(Duration::from_nanos(1));
        let quota = Quota::with_period(refill)
            .unwrap_or_else(|| Quota::per_second(limit))
            .allow_burst(limit);
        Gate {
            limiter: RateLimiter::dashmap(quota).with_middleware::<StateInformationMiddleware>(),
            hash: RandomState::new(),
            limit,
            refill,
            key: std::marker::PhantomData,
        }
    }

    fn pass(&self, key: &K) -> Result<Budget, TooMany> {
        let bucket = self.hash.hash_one(key) % BUCKETS;
        let limit = self.limit.get();
        match self.limiter.check_key(&bucket) {
            Ok(state) => {
                let remaining = state.remaining_burst_capacity();
                let missing = self.refill * limit.saturating_sub(remaining);
                Ok(Budget {
                    limit,
                    remaining,
                    reset_s: whole_seconds(missing),
                })
            }
            Err(wait) => Err(TooMany {
                limit,
                retry_after_s: whole_seconds(wait.wait_time_from(self.limiter.clock().now()))
                    .max(1),
            }),
        }
    }
}

/// Rounded up: who comes back then is let in.
fn whole_seconds(time: Duration) -> u64 {
    time.as_millis()
        .div_ceil(1000)
        .try_into()
        .unwrap_or(u64::MAX)
}

/// What is left, for the answer's headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    limit: u32,
    remaining: u32,
    reset_s: u64,
}

impl Budget {
    /// The one that will stop its owner first.
    pub(crate) fn tighter(self, other: Budget) -> Budget {
        if other.remaining < self.remaining {
            other
        } else {
            self
        }
    }

    /// Tells it in an answer that does not tell a limit yet.
    pub(crate) fn tell(self, headers: &mut HeaderMap) {
        if !headers.contains_key(LIMIT) {
            headers.insert(LIMIT, HeaderValue::from(self.limit));
            headers.insert(REMAINING, HeaderValue::from(self.remaining));
            headers.insert(RESET, HeaderValue::from(self.reset_s));
        }
    }
}

/// A limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many requests: wait {retry_after_s} s")]
pub struct TooMany {
    limit: u32,
    /// When the next one is let in.
    pub retry_after_s: u64,
}

impl TooMany {
    /// Tells it in an answer.
    pub(crate) fn tell(self, headers: &mut HeaderMap) {
        headers.insert(LIMIT, HeaderValue::from(self.limit));
        headers.insert(REMAINING, HeaderValue::from(0));
        headers.insert(RESET, HeaderValue::from(self.retry_after_s));
        headers.insert(RETRY_AFTER, HeaderValue::from(self.retry_after_s));
    }
}

impl IntoResponse for TooMany {
    fn into_response(self) -> Response {
        let mut response = StatusCode::TOO_MANY_REQUESTS.into_response();
        self.tell(response.headers_mut());
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_has_had_its_share_waits_and_another_does_not() {
        let gate = Gate::new(NonZeroU32::new(3).expect("three"), HOUR);
        for left in [2, 1, 0] {
            assert_eq!(gate.pass(&1).expect("let in").remaining, left);
        }
        let refused = gate.pass(&1).expect_err("is refused");
        assert!((1..=1200).contains(&refused.retry_after_s), "{refused:?}");
        assert_eq!(gate.pass(&2).expect("let in").remaining, 2);
    }

    #[test]
    fn a_million_addresses_take_the_memory_of_the_buckets() {
        let gate = Gate::new(REQUESTS_PER_MINUTE, MINUTE);
        for key in 0..1_000_000_u32 {
            let _ = gate.pass(&key);
        }
        assert!(gate.limiter.len() as u64 <= BUCKETS);
    }

    #[test]
    fn any_limit_that_can_be_given_is_kept() {
        for limit in [1, u32::MAX] {
            let limit = NonZeroU32::new(limit).expect("not zero");
            assert_eq!(
                Gate::new(limit, MINUTE).pass(&1).expect("let in").remaining,
                limit.get() - 1
            );
        }
    }
}
