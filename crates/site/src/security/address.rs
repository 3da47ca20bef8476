use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::request::Parts;

use crate::site::Site;

/// What a proxy in front writes down.
const FORWARDED_FOR: &str = "x-forwarded-for";
/// Bits of an IPv6 address that name a network: whoever has one address of it has all.
const IPV6_NETWORK_BITS: u32 = 64;

/// Where requests come from, as far as they are counted together: an IPv4 address, or
/// an IPv6 network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Network(IpAddr);

impl Network {
    /// The network of a request. What a proxy says counts only where the operator
    /// trusts it, and of its list the last entry, which is the proxy's own: those
    /// before it are what the client sent.
    pub(crate) fn of(site: &Site, parts: &Parts) -> Network {
        let peer = parts
            .extensions
            .get::<ConnectInfo<SocketAddr>>()
            .map(|ConnectInfo(peer)| peer.ip());
        let forwarded = site
            .options
            .trust_forwarded_for
            .then(|| forwarded_for(parts))
            .flatten();
        // Without a socket, as in tests, all come from one place.
        let address = forwarded.or(peer).unwrap_or(Ipv4Addr::UNSPECIFIED.into());
        Network::from(address)
    }
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Network {
        Network(match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => {
                let mask = u128::MAX << (u128::BITS - IPV6_NETWORK_BITS);
                IpAddr::V6((address.to_bits() & mask).into())
            }
        })
    }
}

fn forwarded_for(parts: &Parts) -> Option<IpAddr> {
    let last = parts.headers.get_all(FORWARDED_FOR).iter().next_back()?;
    let entry = last.to_str().ok()?.rsplit(',').next()?.trim();
    // Some proxies add the port.
    entry
        .parse()
        .ok()
        .or_else(|| entry.parse::<SocketAddr>().ok().map(|socket| socket.ip()))
}
