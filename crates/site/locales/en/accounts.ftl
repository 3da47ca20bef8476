# Requests that are not answered.
trouble-too-many = Too many requests
trouble-too-many-why = { $seconds ->
    [one] Please wait a second, then try again.
   *[other] Please wait { $seconds } seconds, then try again.
}
trouble-cross-site = This did not come from here
trouble-cross-site-why = Another site’s page sent this request, or nothing said that ours did, so nothing was done. Open the page here and send its form again.
trouble-no-form = This is no form
trouble-no-form-why = Pages take what their forms send. Programs use the API.

# Signing in and up.
account = Account
account-name = Name
account-name-hint = 2 to 39 letters a–z, digits and hyphens.
account-name-unfit = Use 2 to 39 letters a–z, digits and hyphens; the first and the last is no hyphen.
account-name-taken = This name is taken.
account-password = Password
account-password-hint = At least 10 characters.
account-password-again = Password, again
account-password-short = Use at least 10 characters.
account-password-long = Use at most 256 characters.
account-password-differs = The two passwords differ.
account-sign-in = Sign in
account-sign-in-openid = Sign in with OpenID Connect
account-sign-in-wrong = Name and password do not belong together.
account-sign-up = Sign up
account-sign-up-why = With an account you publish runs. No mail address is asked for, so keep the password well: nobody can send you another.
account-sign-up-closed = Sign-up is closed
account-sign-up-closed-why = New accounts with a password are not made on this site.
account-sign-out = Sign out
account-too-many-attempts = Too many attempts. Wait { $seconds } seconds, then try again.
account-busy = Too many people sign in at this moment. Try again in a few seconds.
account-openid-trouble = You are not signed in
account-openid-failed = The OpenID provider could not be asked. Please try again in a moment.
account-openid-refused = What the OpenID provider sent was not accepted. Please start again from the sign-in page.

# The account’s page.
account-since = Since { $day }
account-administrator = Administrator
account-openid-issuer = Signs in with { $issuer }
account-back = Back
account-action = Action
account-runs = Runs
account-runs-none = Nothing published yet.
account-runs-more = The newest { $count } are listed here.
account-run = Run
account-hardware = Hardware
account-published = Published
account-state = State
account-run-shown = Shown
account-run-hidden = Hidden: { $reason }
account-run-delete = Delete
account-run-delete-title = Delete this run?
account-run-delete-why = { $model } on { $hardware }, run { $id }. Its page, its cells and its document go, and links to it lead nowhere. This cannot be undone.
account-tokens = Tokens
account-tokens-why = A token lets a program act for this account.
account-token-name = Token
account-token-name-hint = For you, to know it again: “bench machine”.
account-token-days = Days until it expires
account-token-days-hint = Empty: it does not expire.
account-token-days-unfit = Use a whole number from 1 to 3650, or nothing.
account-token-make = Make a token
account-token-new = A new token
account-token-once = Copy it now: it is shown this once, and kept here only as a hash.
account-token-how = The terminal takes it from the environment:
account-token-no-scope = Tick what the token may do.
account-token-too-many = An account has at most { $most } tokens. Revoke one that is not used.
account-token-may = May
account-token-created = Made
account-token-used = Last used
account-token-unused = Never
account-token-expires = Expires
account-token-expired = Has expired
account-token-stays = Never
account-token-revoke = Revoke
account-title-unfit = Use 1 to 80 visible characters in one line.
account-scope-read = Read what this account sees
account-scope-publish = Publish and delete runs
account-sessions = Signed in
account-session-browser = Browser
account-session-since = Since
account-session-seen = Last seen
account-session-this = this one
account-session-end = Sign out
account-password-change = Change the password
account-password-change-why = All other browsers are signed out. Tokens stay.
account-password-old = Password until now
account-password-new = New password
account-password-wrong = This is not the password.

# Organizations.
account-organizations = Organizations
account-organizations-why = Members publish runs on behalf of an organization.
account-organization-make = Make an organization
account-organization-title = Name of the organization
account-organization-slug = Its short name, for addresses
account-organization-too-many = An account is in at most 50 organizations.
account-members = Members
account-role = Role
account-role-owner = Owner
account-role-member = Member
account-since-when = Since
account-member-add = Add a member
account-member-promote = Make owner
account-member-demote = Make member
account-member-remove = Remove
account-member-leave = Leave
account-member-unknown = There is no account of this name.
account-member-already = This account is a member already.
account-member-not = This account is no member.
account-member-last-owner = An organization needs an owner. Make somebody else one first.
account-member-too-many = There is no room: an organization has at most 500 members, an account at most 50 organizations.

# Signing in a terminal.
account-device = Sign in a terminal
account-device-why = A terminal that asks to be signed in shows a code.
account-device-code = Code
account-device-code-hint = Eight letters, as BCDF-GHJK.
account-device-next = Continue
account-device-unknown = No terminal waits with this code. Codes work once, for 15 minutes.
account-device-asks = “{ $client }” asks for a token of the account { $name }. It could then:
account-device-warning = Approve only if you started this yourself, just now, and your terminal shows this code. If somebody sent you the code, deny.
account-device-approve = Approve
account-device-deny = Deny
account-device-approved = The terminal is signed in
account-device-approved-why = Go back to it; it goes on within seconds. The token is listed on your account’s page, and can be revoked there.
account-device-denied = The terminal was refused
account-device-denied-why = It gets no token.

# Moderation.
account-moderation = Hidden runs
account-moderation-none = No run is hidden.
account-author = Author
account-hidden-on = Hidden on
account-hidden-by = Hidden by
account-hide = Hide
account-hide-title = Hide a run
account-hide-why = Run { $id } then is in no list and no ranking, and only its author and administrators can open it.
account-hide-reason = Reason
account-hide-reason-hint = Its author reads it.
account-hide-reason-unfit = Give a reason of at most 1000 characters.
account-show-again = Show again
