//! How the engine behaves, in its own time.

#![allow(clippy::unwrap_used, reason = "what is missing fails the test")]

mod support;

use std::sync::Arc;

use simulator::engine::{FlatSpeed, Speculation};
use simulator::speed::EngineSpeed;
use simulator::{Config, SpeedModel};
use support::Client;

/// 10 ms a token, 8,192 prompt tokens a second, no jitter.
fn config() -> Config {
    let mut config = Config::batching(EngineSpeed::uniform(10.0, 8192.0));
    config.jitter = 0.0;
    config.max_model_len = 16384;
    config.kv_tokens = 65536;
    config
}

fn client(config: &Config) -> Client {
    Client::new(config.machine())
}

fn with_speculation(mut config: Config) -> Config {
    config.set_speculation(Some(Speculation {
        draft_tokens: 7,
        mean_tokens_per_step: 3.0,
    }));
    config
}

#[test]
fn a_lone_request_takes_its_prefill_and_then_a_step_for_each_token() {
    let mut client = client(&config());
    let id = client.send(4096, 1, 11);
    let seen = client.finish(id);
    assert!((seen.ttft_ms() - 500.0).abs() < 0.1, "{}", seen.ttft_ms());
    assert_eq!(seen.events.len(), 11);
    let last = seen.events[10].0.seconds_since(seen.events[0].0);
    assert!((last - 0.100).abs() < 1e-6, "{last}");
}

#[test]
fn a_prompt_seen_before_is_not_computed_again() {
    let mut client = client(&config());
    let cold = client.send(4096, 1, 1);
    let cold = client.finish(cold);
    let warm = client.send(4096, 1, 1);
    let warm = client.finish(warm);
    assert_eq!(cold.cached_tokens, 0);
    // The last block is computed again: its output is what is asked for.
    assert_eq!(warm.cached_tokens, 4096 - 16);
    assert!(warm.ttft_ms() < 5.0);
    let counters = client.machine.counters();
    assert_eq!(counters.prefix_queries, 8192);
    assert_eq!(counters.prefix_hits, 4080);
    assert_eq!(counters.prompt_tokens_cached, 4080);
}

#[test]
fn a_shared_beginning_is_shared_and_the_rest_is_computed() {
    let mut client = client(&config());
    let first = client.send_hashes(1024, (0..64).collect(), 1);
    client.finish(first);
    let hashes = (0..32).chain(1000..1032).collect();
    let second = client.send_hashes(1024, hashes, 1);
    assert_eq!(client.finish(second).cached_tokens, 512);
}

#[test]
fn the_longest_unused_prompt_is_evicted_first() {
    let mut config = config();
    config.kv_tokens = 16384;
    let mut client = client(&config);
    let cached = |client: &mut Client, topic| {
        let id = client.send(6144, topic, 1);
        client.finish(id).cached_tokens
    };
    assert_eq!(cached(&mut client, 1), 0);
    assert_eq!(cached(&mut client, 2), 0);
    assert!(cached(&mut client, 1) > 6000);
    // No room for three: the second, longest unused, has to go.
    assert_eq!(cached(&mut client, 3), 0);
    assert!(cached(&mut client, 1) > 6000);
    assert!(cached(&mut client, 2) < 6000);
}

#[test]
fn a_long_prompt_is_computed_in_pieces_while_others_go_on() {
    let mut config = config();
    config.max_num_batched_tokens = 1024;
    let mut client = client(&config);
    let talker = client.send(16, 1, 1000);
    client.pass(100.0);
    let before = client.requests[&talker].tokens();
    let reader = client.send(8192, 2, 1);
    let seen = client.finish(reader);
    let meanwhile = client.requests[&talker].tokens() - before;
    // A step fits one token and 1,023 prompt tokens, so nine steps.
    assert!((8..=10).contains(&meanwhile), "{meanwhile}");
    assert!(seen.ttft_ms() > 1080.0, "{}", seen.ttft_ms());
}

#[test]
fn more_requests_than_sequences_wait_in_order() {
    let mut config = config();
    config.max_num_seqs = 2;
    let mut client = client(&config);
    let ids: Vec<u64> = (0..5).map(|topic| client.send(64, topic, 10)).collect();
    client.pass(50.0);
    let counters = client.machine.counters();
    assert_eq!((counters.running, counters.waiting), (2, 3));
    client.drain();
    let first_tokens: Vec<_> = ids
        .iter()
        .map(|id| client.requests[id].events[0].0)
        .collect();
    assert!(first_tokens.is_sorted());
    assert!(first_tokens[4].seconds_since(first_tokens[0]) > 0.18);
}

#[test]
fn cancelled_requests_free_their_blocks_at_once() {
    let mut client = client(&config());
    let ids: Vec<u64> = (0..3).map(|topic| client.send(8192, topic, 1000)).collect();
    client.pass(3500.0);
    let used = client.machine.counters().kv_usage;
    assert!(used > 0.35, "{used}");
    for id in ids {
        client.cancel(id);
    }
    let counters = client.machine.counters();
    assert_eq!(counters.kv_usage, 0.0);
    assert_eq!((counters.running, counters.waiting), (0, 0));
    assert_eq!(counters.finished_abort, 3);
    client.drain();
    assert_eq!(client.machine.counters().generation_tokens, {
        let tokens = client.requests.values().map(|seen| seen.tokens());
        tokens.sum::<u64>()
    });
}

#[test]
fn a_request_cancelled_on_its_way_to_the_engine_never_runs() {
    let mut speed = EngineSpeed::uniform(10.0, 8192.0);
    speed.front_end.per_request_ms = 100.0;
    let mut config = config();
    config.speed_model = SpeedModel::Batching(Arc::new(speed));
    let mut client = client(&config);
    let first = client.send(64, 1, 5);
    let second = client.send(64, 2, 5);
    client.pass(50.0);
    client.cancel(second);
    client.finish(first);
    client.drain();
    assert!(client.requests[&second].events.is_empty());
}

#[test]
fn the_front_end_reads_prompts_one_after_the_other() {
    let mut speed = EngineSpeed::uniform(0.1, 1e9);
    speed.front_end.per_request_ms = 100.0;
    speed.front_end.latency_ms = 30.0;
    let mut config = config();
    config.speed_model = SpeedModel::Batching(Arc::new(speed));
    let mut client = client(&config);
    let ids: Vec<u64> = (0..4).map(|topic| client.send(64, topic, 1)).collect();
    client.pass(250.0);
    // What has not been read is neither running nor waiting.
    assert_eq!(client.machine.counters().waiting, 0);
    client.drain();
    for (turn, id) in ids.iter().enumerate() {
        let ttft_ms = client.requests[id].ttft_ms();
        let expected = 30.0 + 100.0 * (turn as f64 + 1.0);
        assert!((ttft_ms - expected).abs() < 1.0, "{ttft_ms} for {expected}");
    }
}

#[test]
fn when_blocks_run_out_the_newest_request_starts_over_and_loses_nothing() {
    let mut config = config();
    config.max_model_len = 4096;
    config.kv_tokens = 4096;
    let mut client = client(&config);
    let first = client.send(1024, 1, 2000);
    client.pass(200.0);
    let second = client.send(1024, 2, 2000);
    client.drain();
    let (first, second) = (&client.requests[&first], &client.requests[&second]);
    assert_eq!(first.preemptions, 0);
    assert!(second.preemptions > 0);
    assert_eq!((first.tokens(), second.tokens()), (2000, 2000));
    assert!(client.machine.counters().preemptions > 0);
    assert_eq!(client.machine.counters().kv_usage, 0.0);
}

#[test]
fn speculation_gives_several_tokens_an_event_at_the_same_pace() {
    let mut plain = client(&config());
    let id = plain.send(1024, 1, 3000);
    let plain = plain.finish(id);
    let mut client = client(&with_speculation(config()));
    let id = client.send(1024, 1, 3000);
    let seen = client.finish(id);
    assert_eq!(seen.tokens(), 3000);
    assert!(
        (950..1050).contains(&seen.events.len()),
        "{}",
        seen.events.len()
    );
    let length = |seen: &support::Seen| {
        let last = seen.events.len() - 1;
        seen.events[last].0.seconds_since(seen.events[0].0)
    };
    assert!((length(&seen) / length(&plain) - 1.0).abs() < 0.005);
    let counters = client.machine.counters();
    let drafts = seen.events.len() as u64 - 1;
    assert_eq!(counters.drafts, drafts);
    assert_eq!(counters.draft_tokens, 7 * drafts);
    // Each step also gives the model's own token.
    let accepted = counters.accepted_tokens + drafts + 1;
    assert!((2998..=3010).contains(&accepted), "{accepted}");
}

#[test]
fn jitter_changes_steps_and_not_their_mean() {
    let mut config = config();
    config.jitter = 0.05;
    let mut client = client(&config);
    let id = client.send(16, 1, 2000);
    let seen = client.finish(id);
    let gaps: Vec<f64> = seen
        .events
        .windows(2)
        .map(|pair| pair[1].0.seconds_since(pair[0].0) * 1e3)
        .collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    assert!((mean - 10.0).abs() < 0.05, "{mean}");
    assert!(gaps.iter().any(|gap| *gap > 10.3) && gaps.iter().any(|gap| *gap < 9.7));
}

#[test]
fn the_same_seed_gives_the_same_times() {
    let run = || {
        let mut config = with_speculation(config());
        config.jitter = 0.02;
        config.seed = 5;
        let mut client = client(&config);
        for topic in 0..4 {
            client.send(2000, topic, 300);
        }
        client.drain();
        client
            .requests
            .values()
            .map(|seen| seen.events.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}

#[test]
fn steps_are_counted_with_their_tokens() {
    let mut client = client(&config());
    let id = client.send(1000, 1, 11);
    client.finish(id);
    let steps = &client.machine.counters().step_tokens;
    assert_eq!(steps.count(), 11);
    assert_eq!(steps.sum, 1010.0);
}

#[test]
fn the_flat_engine_gives_each_request_the_same_times_whatever_else_runs() {
    let mut config = Config::flat(FlatSpeed {
        ttft_ms: 50.0,
        tbt_ms: 8.0,
        tokens_per_event: 4,
    });
    config.max_num_seqs = 3;
    let mut client = client(&config);
    let mut ids = Vec::new();
    for topic in 0..4 {
        ids.push(client.send(1000, topic, 42));
        client.pass(7.0);
    }
    assert_eq!(client.machine.counters().waiting, 1);
    client.drain();
    for id in &ids[..3] {
        let seen = &client.requests[id];
        assert!((seen.ttft_ms() - 50.0).abs() < 1e-6);
        let last = seen.events[10].0.seconds_since(seen.events[0].0);
        assert!((last - 0.320).abs() < 1e-6);
        assert_eq!(seen.tokens(), 42);
        assert_eq!(seen.events[10].1, 2);
    }
    // The fourth had to wait for the first to end.
    let waited = client.requests[&ids[3]].ttft_ms();
    assert!((waited - (370.0 - 21.0 + 50.0)).abs() < 1e-6, "{waited}");
}
