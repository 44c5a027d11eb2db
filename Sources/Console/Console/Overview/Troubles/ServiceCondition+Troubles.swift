import AppleAccounts
import Encodings
import HTTPAPI
import KeySets

extension ServiceCondition {
    /// All current troubles, most urgent first. Depends only on this `ServiceCondition`.
    var troubles: [Trouble] {
        let single = [
            database, keySet, clock, sealing, signingKeys, secrets, overload, notifications, reports,
            refusals, proxy, revocations,
        ]
        let found = single.compactMap(\.self) + callers + receivers + work
        let order = Dictionary(uniqueKeysWithValues: Trouble.Kind.allCases.enumerated().map { ($1, $0) })
        return found.sorted { (order[$0.kind] ?? 0, $0.about) < (order[$1.kind] ?? 0, $1.about) }
    }

    /// True while a fault in the service itself makes it refuse all callers.
    var hasFaultOfItsOwn: Bool { [database, keySet, clock, sealing].contains { $0?.severity == .bad } }

    // MARK: The database

    var database: Trouble? {
        if let lostStandby { return lostStandby }
        guard let code = databaseFailure?.code ?? endedFailure else { return nil }
        let isDown = databaseFailure != nil
        let verb = isDown ? "is" : "was"
        let effect =
            isDown
            ? "every sign-in is answered with 503"
            : "transactions failed in the last two minutes, so some requests were answered with 503. It accepts "
                + "commands now"
        let words = [
            databaseFailure?.detail ?? "", (databaseFailure?.databaseCode).map { "code \($0)" } ?? "",
        ].filter { !$0.isEmpty }.joined(separator: ", ")
        let severity: Trouble.Severity = isDown ? .bad : .warn
        let cause = "The database \(isDown ? "says" : "said"): \(words.isEmpty ? code.rawValue : words)."
        func advice(_ now: String, ended: String) -> String { isDown ? now : ended }
        switch code {
        case .full:
            return Trouble(
                .databaseFull, severity, "The database \(verb) full: \(effect).", cause: cause,
                advice: advice(
                    "Make room on the disk of the database, at least 1 MiB. The service goes on by itself.",
                    ended: "See that its disk has enough room for the next days."),
                page: .checks)
        case .busy:
            let holder =
                isPostgres
                ? "Find the session that holds the lock: SELECT pid, state, query FROM pg_stat_activity WHERE "
                    + "pid = ANY (SELECT unnest(pg_blocking_pids(pid)) FROM pg_stat_activity). End it with "
                    + "pg_terminate_backend(pid)."
                : "Find the program that holds the lock of the file (fuser), and end it."
            let other =
                isPostgres
                ? (isDown
                    ? "Another session holds a lock, or a commit does not come back."
                    : "Another session held a lock, or a commit did not come back.")
                : "Another program \(isDown ? "holds" : "held") the lock of the file."
            return Trouble(
                .databaseLocked, severity, "The database \(verb) locked: \(effect).",
                cause: "\(other) \(cause)",
                advice: advice(
                    holder, ended: "If it is locked again, find who locks it, as the runbook says."),
                page: .checks)
        case .unavailable, .readOnly, .corrupted, .schemaTooNew, .migrationFailed, .valueRefused:
            return Trouble(
                .databaseFailing, severity,
                "The database \(isDown ? "fails" : "failed") (\(code.rawValue)): \(effect).", cause: cause,
                advice: advice(
                    isPostgres
                        ? "See that PostgreSQL runs, can be reached and is not a standby."
                        : "See that the file and its directory can be written, and the log of the service.",
                    ended: "See the log of \(isPostgres ? "PostgreSQL" : "the service") about that time."),
                page: .checks)
        }
    }

    /// Cause of the newest database failure in the last two minutes, if the database accepts commands again.
    private var endedFailure: StorageError.Code? {
        let recent = StorageError.Code.allCases.filter { newest[.storageFailure($0.rawValue)] ?? 0 > 0 }
        return newestFailure.flatMap { recent.contains($0) ? $0 : nil } ?? recent.first
    }

    var lostStandby: Trouble? {
        guard let standbys, standbys.connected < standbys.required else { return nil }
        return Trouble(
            .standbyLost, .bad,
            "A standby is lost: no commit comes back, so every sign-in is answered with 503.",
            cause:
                "Commits wait for \(standbys.required) of \(standbys.wanted), and \(standbys.connected) are "
                + "connected.",
            advice:
                "Start the standby. If it does not come back, take it out of synchronous_standby_names and reload "
                + "PostgreSQL: from then on a failover can lose commits.", page: .checks)
    }

    // MARK: Apple's keys, the clock, the service's keys

    var keySet: Trouble? {
        let advice =
            "Open the way to appleid.apple.com:443, or correct the proxy that answers in its place. The service tries "
            + "by itself."
        func trouble(
            _ severity: Trouble.Severity, _ cause: KeySetFetchError.Code, _ sentence: String,
            _ more: String = ""
        ) -> Trouble {
            Trouble(
                .keysUnreachable, severity, sentence, cause: lastFetch(cause) + more, numbers: undecidedShare,
                advice: advice, page: .checks)
        }
        switch keys.status {
        // Before the first fetch ends, nothing has failed, so there is no trouble.
        case .ready, .stale(nil), .unavailable(nil): return nil
        case .unavailable(let cause?):
            return trouble(
                .bad, cause,
                "Apple's keys cannot be fetched, and there is no usable one: no sign-in can be verified.")
        case .stale(let cause?):
            let end = keys.usableUntil.map { " They can be used until \(Self.date($0)) UTC." } ?? ""
            guard (newest[.undecided] ?? 0) > 0 else {
                return trouble(
                    .warn, cause,
                    "Apple's keys cannot be fetched. Sign-ins go on with the last good ones, and fail for tokens that "
                        + "a newer key of Apple's has signed.", end)
            }
            let isEach = (newest[.verified] ?? 0) == 0
            return trouble(
                .bad, cause,
                "Apple's keys cannot be fetched, and Apple signs with a newer one: "
                    + (isEach ? "every sign-in" : "a part of the sign-ins") + " is answered with 503.")
        }
    }

    /// Describes the last fetch of Apple's keys, and states when the next fetch starts.
    private func lastFetch(_ cause: KeySetFetchError.Code) -> String {
        // Only an unexpected status is worth showing. In all other cases the error code explains more.
        let status = cause == .statusUnexpected ? keys.lastStatus : nil
        let result = status.map { "status \($0)" } ?? cause.rawValue
        let place = keysURL.isEmpty ? "" : " of \(keysURL)"
        let time = keys.lastFailureAt.map { " at \(Self.time($0)) UTC" } ?? ""
        let age =
            keys.lastSuccessAt.map { " The last good set is of \(Self.time($0, characters: 5)) UTC." } ?? ""
        let next = keys.nextFetchAt.map { " The next try is at \(Self.time($0)) UTC." } ?? ""
        return "The last fetch\(place)\(time): \(result).\(next)\(age)"
    }

    private var undecidedShare: String {
        let undecided = newest[.undecided] ?? 0
        guard undecided > 0 else { return "" }
        let all = undecided + (newest[.verified] ?? 0) + (newest[.unverified] ?? 0)
        return
            "\(Self.percent(undecided, of: all)) of the identity tokens of the last two minutes could not be "
            + "verified (\(undecided) of \(all))."
    }

    var clock: Trouble? {
        guard let secondsAhead, secondsAhead.magnitude > 30 else { return nil }
        let isSlow = secondsAhead < 0
        let distance = Self.duration(Int64(clamping: secondsAhead.magnitude))
        let refused =
            isSlow
            ? "new tokens and notifications of Apple are refused as from the future"
            : "Apple refuses the client secrets"
        let bound = ServiceWarnings.refusingClock
        let effect = secondsAhead.magnitude > bound.magnitude ? refused : "beyond \(bound) seconds \(refused)"
        return Trouble(
            .clockWrong, secondsAhead.magnitude >= ServiceWarnings.wrongClock.magnitude ? .bad : .warn,
            "The clock of this machine is \(distance) \(isSlow ? "slow" : "fast"): \(effect).",
            cause: "Compared with the Date field of Apple's responses.",
            advice: "Let chrony or systemd-timesyncd set the clock: timedatectl, chronyc tracking.",
            page: .checks)
    }

    var sealing: Trouble? {
        guard unreadableValues > 0 else { return nil }
        return Trouble(
            .sealingKeyWrong, .bad,
            "A sealing key is wrong: \(unreadableValues) of the stored values that were tried cannot be opened. "
                + "Sign-ins with identity tokens go on; daily checks, erasures at Apple and OAuth clients fail.",
            cause: "SIWA_SEALING_KEYS lacks a key that was used before, or has another key of the same name.",
            advice: "Put the old key back and restart. Nothing is lost meanwhile: what waits goes on then.",
            page: .settings)
    }

    var signingKeys: Trouble? {
        guard !shutKeys.isEmpty else { return nil }
        let names = shutKeys.map { "\($0.algorithm) \($0.keyID.prefix(12)), sealed by \($0.sealedBy)" }
        let count =
            shutKeys.count == 1
            ? "A key that signs tokens does" : "\(shutKeys.count) keys that sign tokens do"
        return Trouble(
            .signingKeysShut, signs ? .warn : .bad,
            "\(count) not open, so no new one is made. "
                + (signs
                    ? "The others sign meanwhile."
                    : "OAuth clients get no tokens, and receivers no signed events."),
            cause:
                "SIWA_SEALING_KEYS does not open \(names.joined(separator: "; ")). It lacks a key, has another "
                + "key of the same name, or these were made while it had a wrong one.",
            advice:
                "If a sealing key was taken out or replaced, put it back and restart. If these keys were made with "
                + "a wrong sealing key, or theirs is lost, retire them (Keys, below, or siwa reseal "
                + "--retire-signing-keys): tokens that they have signed end.",
            page: Trouble.Page(title: "Keys", path: "/console/overview#keys"))
    }

    var proxy: Trouble? {
        guard let loneRequester else { return nil }
        return Trouble(
            .proxyUnnamed, .warn,
            "All requests of the last hour came from \(loneRequester). Every user and client counts as one: a "
                + "guesser there slows all of them down.",
            cause: "A proxy has this address, and SIWA_TRUSTED_PROXIES does not name it.",
            advice:
                "Set SIWA_TRUSTED_PROXIES to the addresses of all proxies, let each append to X-Forwarded-For, and "
                + "restart.",
            page: .settings)
    }

    var secrets: Trouble? {
        let refused = hour[.secretRefused] ?? 0
        guard refused > 0 else { return nil }
        // Calls to Apple are rare, so the text uses the past tense only after ten minutes without a refusal.
        let isOver = (recent[.secretRefused] ?? 0) == 0
        // Client secrets contain times from this clock, so a wrong clock explains the refusals.
        let isClockWrong = clock != nil
        return Trouble(
            .refusedByApple, .warn,
            isOver
                ? "Apple refused the client secrets, not in the last ten minutes: codes were not exchanged, and "
                    + "checks did not run."
                : "Apple refuses the client secrets: codes are not exchanged, and checks do not run.",
            cause: isClockWrong
                ? "The clock is wrong, and with it the times in the secrets. Apple has answered invalid_client "
                    + "in the last hour."
                : "Apple has answered invalid_client in the last hour.",
            numbers: "\(refused) times.",
            advice: isClockWrong
                ? "Set the clock first. New secrets are good then; the .p8 keys can stay."
                : "Put a valid .p8 key of this team in place. The service takes it without a restart.",
            page: .checks)
    }
}
