import AppleAccounts

/// Troubles with callers, receivers and individual users.
extension ServiceCondition {
    var overload: Trouble? {
        let turnedAway = latest[.turnedAway] ?? 0
        guard turnedAway > 0 else { return nil }
        let isOver = (newest[.turnedAway] ?? 0) == 0
        return Trouble(
            .overloaded, isOver ? .warn : .bad,
            "The service \(isOver ? "was" : "is") overloaded: requests were turned away in the last five minutes.",
            cause: "More requests than this machine and its database take.",
            numbers: "\(turnedAway) requests were turned away.",
            advice: "Stop the caller that sends too much, or add a replica on PostgreSQL.",
            page: Self.requests())
    }

    /// Minimum number of requests in five minutes for a warning about a caller.
    static let hammering: Int64 = 100

    var callers: [Trouble] {
        let names = Set(latest.keys.compactMap { $0.refusedCaller ?? $0.answeredCaller })
        let all = names.reduce(0) { $0 + requests(of: $1).all }
        return names.sorted().compactMap { name in
            let (refused, requests) = requests(of: name)
            // A fault in the service makes it refuse all callers, so the caller is not the cause.
            let repeats = !hasFaultOfItsOwn && refused >= Self.hammering && refused * 2 >= requests
            let crowds = (latest[.turnedAway] ?? 0) > 0 && requests * 2 >= all && requests >= Self.hammering
            guard repeats || crowds else { return nil }
            let words = Self.words(for: name)
            return Trouble(
                .clientHammering, .warn,
                repeats
                    ? "\(words.repeats): \(refused) in the last five minutes."
                    : "\(words.crowds): \(requests) in the last five minutes.",
                cause: "\(Self.percent(refused, of: requests)) of these requests were refused.",
                advice:
                    "\(words.doubt)Look at the codes of the refusals, and tell the developers. If it is an attack, "
                    + "block its address at the proxy.",
                page: Self.requests(caller: name == Self.otherClients ? nil : name), about: name)
        }
    }

    private func requests(of caller: String) -> (refused: Int64, all: Int64) {
        let refused = latest[.refused(caller: caller)] ?? 0
        return (refused, refused + (latest[.answered(caller: caller)] ?? 0))
    }

    /// Returns sentence parts about a caller that sends many requests, by the caller's name in the metrics.
    private static func words(for name: String) -> (repeats: String, crowds: String, doubt: String) {
        guard name.hasPrefix("client:") else {
            let subject = name == "none" ? "A client without a key" : "The caller \(name)"
            return (
                "\(subject) repeats requests that are refused", "\(subject) sends most of the requests", ""
            )
        }
        let subject =
            name == otherClients
            ? "Requests that name the OAuth clients after the first 20"
            : "Requests that name the OAuth client \(name.dropFirst("client:".count))"
        // The service counts requests before it verifies their secrets, so anyone can send them.
        return (
            "\(subject) are refused again and again", "\(subject) are most of the requests",
            "See in Requests if a secret proved the client, because anyone can name a client. "
        )
    }

    /// Name of the metric series that all other clients share.
    private static let otherClients = "client:other"

    // MARK: Notifications and deliveries

    var notifications: Trouble? {
        let rejected = day[.checkRejected] ?? 0
        guard rejected > 0 else { return nil }
        let last = [lastStoredNotification, lastNotification].compactMap { $0 }.max()
        guard isSilent(since: last) else { return nil }
        return Trouble(
            .notificationsSilent, .warn,
            "Apple's notifications do not arrive: users who stopped using the app can go on here for up to a day. "
                + "Sign-ins are not affected.",
            cause: "Daily checks found rejected refresh tokens in the last day, and Apple has told of none"
                + (last.map { " since \(Self.date($0.milliseconds)) UTC" } ?? "") + ".",
            numbers: "\(rejected) tokens were rejected.",
            advice:
                "Register the notification endpoint, https://HOST/v1/apple/notifications, for the primary App ID at "
                + "Apple, and let the proxy pass this path.",
            page: .settings)
    }

    /// Maximum delay in milliseconds between a check that finds a revocation and Apple's notification.
    private static let slowestNotification: Int64 = 300_000

    /// Returns true if notifications seem to be missing: none has arrived for a day, or none has arrived
    /// since a check found a revocation.
    private func isSilent(since last: Moment?) -> Bool {
        let isLong = lastNotification.map { now.milliseconds - $0.milliseconds >= 86_400_000 } ?? true
        if (day[.notification] ?? 0) == 0, isLong { return true }
        guard let last, let lastRejection else { return false }
        return lastRejection >= last
            && now.milliseconds - lastRejection.milliseconds >= Self.slowestNotification
    }

    var reports: Trouble? {
        guard let google else { return nil }
        return Trouble(
            .googleRefusing, .warn,
            "Google does not take reports: the Google app shows links that have ended here. Sign-ins are not "
                + "affected.",
            cause:
                "\(google.failing) events wait since \(Self.date(google.failingSince.milliseconds)) UTC, the oldest "
                + "after \(google.attempts) attempts.",
            advice:
                "See Google's answer. Compare the issuer and /.well-known/risc-configuration with what is registered "
                + "at Google.",
            page: Trouble.Page(title: "Events, Google", path: "/console/events/google"))
    }

    /// Milliseconds after which a receiver is considered late.
    static let lateReceiver: Int64 = 300_000

    var receivers: [Trouble] {
        let page = Trouble.Page(title: "Deliveries", path: "/console/events/deliveries")
        let paused = pausedReceivers.sorted().map { name in
            Trouble(
                .receiverPaused, .warn, "The receiver \(name) is paused: it learns of no revocation.",
                cause: "It did not take an event for seven days.",
                advice: "Correct it, then press Resume in Deliveries. It gets what it missed, in order.",
                page: page, about: name)
        }
        // While the database fails, its numbers are out of date, so no receiver is considered late.
        guard databaseFailure == nil else { return paused }
        return paused
            + lateReceivers.filter { now.milliseconds - $0.since.milliseconds >= Self.lateReceiver }.map {
                let age = Self.duration((now.milliseconds - $0.since.milliseconds) / 1000)
                return Trouble(
                    .receiverLate, .warn,
                    "The receiver \($0.name) has taken no event for \(age): it learns of no revocation.",
                    cause: "It does not answer or refuses events, or does not ask for them.",
                    numbers: "\($0.waiting) events wait at most.",
                    advice:
                        "See its last error in Deliveries, and correct it. siwa tries again by itself, and pauses it "
                        + "after seven days.",
                    page: page, about: $0.name)
            }
    }

    var work: [Trouble] {
        queues.filter { $0.isOverdue && $0.name.traits.isAtApple }.map { queue in
            Trouble(
                .workOverdue, .warn,
                "\(queue.name.traits.words) are behind: the oldest has been due for \(Self.duration(queue.oldest)).",
                cause: "Apple cannot be reached, throttles, or SIWA_CHECKS_PER_SECOND is too small.",
                advice: "See the runbook, and the log for lines about Apple.",
                page: Trouble.Page(title: "Work that is due", path: "/console/overview#work"),
                about: queue.name.rawValue)
        }
    }

    // MARK: Users

    var refusals: Trouble? {
        let (good, refused) = (recent[.verified] ?? 0, recent[.unverified] ?? 0)
        guard refused >= 10, refused * 5 > good + refused else { return nil }
        // These codes report faults in this service and say nothing about the token.
        let own: Set<String> = [
            "keys_unavailable", "signing_keys_shut", "storage_unavailable", "overloaded", "internal_error",
        ]
        let codes = recent.compactMap { name, count in name.code.map { ($0, count) } }
            .filter { !own.contains($0.0) }
        let top = codes.max { ($0.1, $1.0) < ($1.1, $0.0) }
        return Trouble(
            .refusesMany, .warn,
            "\(Self.percent(refused, of: good + refused)) of the identity tokens of the last ten minutes were refused.",
            cause: (top.map { "Most often: \($0.0), \($0.1) times." } ?? "") + foremost,
            advice: "See what was expected and what was found, and tell the developers of the caller.",
            page: Self.requests(code: top?.0))
    }

    /// A sentence about a caller that sent at least 90% of the refused requests; empty if there is no such
    /// caller.
    private var foremost: String {
        let refused = latest.compactMap { name, count in name.refusedCaller.map { ($0, count) } }
        let all = refused.reduce(0) { $0 + $1.1 }
        guard let top = refused.max(by: { $0.1 < $1.1 }), all > 0, top.1 * 10 >= all * 9 else { return "" }
        let share = top.1 == all ? "All" : Self.percent(top.1, of: all)
        return " \(share) of the refused requests of the last five minutes came from \(Self.sender(top.0))."
    }

    private static func sender(_ caller: String) -> String {
        if caller == "none" { return "clients without a key" }
        return caller.hasPrefix("client:")
            ? "those who name the OAuth client \(caller.dropFirst(7))" : "the caller \(caller)"
    }

    var revocations: Trouble? {
        let told = hour[.revoked] ?? 0
        let found = hour[.checkRejected] ?? 0
        let refused = ["credential_revoked", "account_disabled"].reduce(into: Int64(0)) {
            $0 += hour[.refused($1)] ?? 0
        }
        guard told + found + refused > 0 else { return nil }
        let people = told + found == 1 ? "One person" : "\(told + found) people"
        return Trouble(
            .peopleRevoked, .note,
            told + found > 0
                ? "\(people) stopped using an app at Apple in the last hour. What they had is refused; a new sign-in "
                    + "works."
                : "Requests for revoked or disabled accounts were refused \(refused) times in the last hour.",
            cause: "\(told) told by Apple, \(found) found by daily checks."
                + (refused > 0
                    ? " \(refused) requests were refused with credential_revoked or account_disabled."
                    : ""),
            advice:
                "Find the person among the events: the time line says when and why. Who has signed in again is "
                + "authorized.",
            page: Trouble.Page(title: "Events", path: "/console/events"))
    }
}
