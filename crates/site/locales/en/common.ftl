# The frame of every page.
skip-to-content = Skip to content
menu = Site
menu-start = Getting started
menu-leaderboard = Leaderboard
menu-models = Models
menu-organizations = Organizations
menu-runs = Matrix runs
menu-hardware = Hardware
menu-api = API docs
menu-sign-in = Sign in

# Pages that say what went wrong.
trouble-not-found = Nothing here
trouble-not-found-why = There is no page at this address. It may have been deleted, or the link may be mistyped.
trouble-bad-request = This address cannot be understood
trouble-forbidden = Not for this account
trouble-forbidden-why = You need to sign in with an account that may do this.
trouble-broken = Something broke here
trouble-broken-why = The fault is ours, and it was logged. Please try again in a moment.
