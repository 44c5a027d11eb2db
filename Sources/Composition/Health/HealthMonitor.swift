import AppleAccounts
import AppleIDClient
import Console
import HTTPAPI
import KeySets
import Logging
import Metrics
import ServiceLifecycle
import SignIn

/// Checks Apple's key set, the database and the signing keys every two seconds, logs changes, and updates the
/// database metrics.
struct HealthMonitor: Service {
    /// Interval between checks. Each check performs one small database read.
    static let interval = Duration.seconds(2)
    /// Number of checks between two samples of the stored values, which makes one sample every ten minutes.
    static let checksPerSample = 300

    let keys: any VerificationKeys
    let store: any AccountStore
    let signingKeys: SigningKeyFiles
    let teams: [String]
    let warnings: ServiceWarnings
    /// The sample taken at the service's start.
    let firstSample: SealedSample
    let sealedSample: @Sendable () async throws -> SealedSample
    let gauges: DatabaseGauges
    let interval: Duration
    let logger: Logger

    init(
        settings: ServiceSettings, keys: any VerificationKeys, store: any AccountStore,
        warnings: ServiceWarnings, firstSample: SealedSample,
        sealedSample: @escaping @Sendable () async throws -> SealedSample, gauges: DatabaseGauges,
        interval: Duration, logger: Logger
    ) {
        self.gauges = gauges
        (self.warnings, self.firstSample, self.sealedSample) = (warnings, firstSample, sealedSample)
        let locations = settings.signingKeys.map { ($0.key.rawValue, $0.value) }
        signingKeys = SigningKeyFiles(Dictionary(uniqueKeysWithValues: locations))
        teams = locations.map(\.0).sorted()
        (self.keys, self.store, self.interval, self.logger) = (keys, store, interval, logger)
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var log = HealthLog(sealedWarning: firstSample.warning)
            var checks = 0
            while !Task.isCancelled {
                await look(&log)
                checks += 1
                if checks.isMultiple(of: Self.checksPerSample) { await openSample(&log) }
                try? await Task.sleep(for: interval)
            }
        }
        // Waits, because if `run` returned early, the whole service would stop.
        try? await gracefulShutdown()
    }

    private func look(_ log: inout HealthLog) async {
        write(log.notice(keys.health.status))
        write(log.notice(secondsAhead: warnings.secondsAhead))
        for team in teams {
            let (keys, trouble) = signingKeys.look(atTeam: team)
            // An empty directory is not an error, because the operator removed the keys.
            let isRead = trouble == nil || trouble?.code == .noKey
            let found = HealthLog.SigningKeys(
                keyIDs: Set(keys.map(\.keyID)), trouble: isRead ? nil : trouble?.errorText)
            write(log.notice(found, ofTeam: team))
        }
        let failure = await databaseFailure()
        // A cancelled check's result says nothing about the database.
        guard !Task.isCancelled else { return }
        gauges.show(failure)
        write(log.notice(failure))
    }

    /// Tries to open a sample of the stored values. Does nothing if the database does not respond.
    private func openSample(_ log: inout HealthLog) async {
        guard let sample = try? await sealedSample() else { return }
        warnings.note(sample)
        write(log.notice(sealedWarning: sample.warning))
    }

    private func databaseFailure() async -> StorageError? {
        do {
            try await store.checkHealth()
            return nil
        } catch {
            return error as? StorageError ?? StorageError(.unavailable, detail: "")
        }
    }

    private func write(_ lines: [HealthLog.Line]) {
        for line in lines {
            logger.log(
                level: line.level, "\(line.message)",
                metadata: Logger.Metadata(uniqueKeysWithValues: line.fields.map { ($0.key, "\($0.value)") }))
        }
    }
}

extension ServiceWarnings {
    func note(_ sample: SealedSample) {
        // Sets this value first, because the total depends on it.
        shutSigningKeys = Int64(sample.shutKeys.count)
        (unreadableValues, sampledValues) = (Int64(sample.unreadable), Int64(sample.tried))
    }
}

/// Decides which log lines to write about dependencies: one when a dependency fails, recovers or changes, and
/// none for a check without a change. Does no I/O.
struct HealthLog {
    struct Line: Equatable {
        let level: Logger.Level
        let message: String
        var fields: [String: String] = [:]
    }

    /// One team's signing keys.
    struct SigningKeys: Equatable {
        let keyIDs: Set<String>
        /// The file or directory that is currently unreadable, and the reason.
        var trouble: String?
    }

    private enum Keys { case good, old, none }

    private var keys = Keys.good
    private var databaseFailure: StorageError.Code?
    private var signingKeys: [String: SigningKeys] = [:]
    private var isClockWrong = false
    private var sealedWarning: String?

    /// - Parameter sealedWarning: The warning about stored values that the service logged at its start.
    init(sealedWarning: String? = nil) {
        self.sealedWarning = sealedWarning
    }

    /// - Parameter secondsAhead: Number of seconds that this machine's clock is ahead of Apple's; `nil` while
    ///   unknown.
    mutating func notice(secondsAhead: Int64?) -> [Line] {
        guard let secondsAhead else { return [] }
        let difference = Int64(clamping: secondsAhead.magnitude)
        // A margin of 10 s prevents repeated lines for a difference near the bound.
        let isWrong = difference >= ServiceWarnings.wrongClock - (isClockWrong ? 10 : 0)
        guard isWrong != isClockWrong else { return [] }
        isClockWrong = isWrong
        let fields = ["seconds_ahead": String(secondsAhead)]
        return [
            isWrong
                ? Line(
                    level: .error,
                    message: "the clock of this machine differs from Apple's",
                    fields: fields)
                : Line(
                    level: .notice, message: "the clock of this machine agrees with Apple's", fields: fields)
        ]
    }

    /// - Parameter sealedWarning: The warning from a sample of the stored values; `nil` if every value can be
    ///   decrypted.
    mutating func notice(sealedWarning: String?) -> [Line] {
        guard sealedWarning != self.sealedWarning else { return [] }
        self.sealedWarning = sealedWarning
        guard let sealedWarning else {
            return [Line(level: .notice, message: "stored refresh tokens open again")]
        }
        return [Line(level: .warning, message: sealedWarning)]
    }

    /// Returns lines about the key set. A key set that has not been fetched since the start is not a failure,
    /// but a failed fetch is.
    mutating func notice(_ status: KeySetHealth.Status) -> [Line] {
        let (found, cause): (Keys, KeySetFetchError.Code?) =
            switch status {
            case .ready, .stale(nil): (.good, nil)
            case .unavailable(nil): (keys, nil)
            case .stale(let cause?): (.old, cause)
            case .unavailable(let cause?): (.none, cause)
            }
        guard found != keys else { return [] }
        keys = found
        let fields = cause.map { ["cause": $0.rawValue] } ?? [:]
        return switch found {
        case .good: [Line(level: .notice, message: "Apple's key set is fetched again")]
        case .old:
            [
                Line(
                    level: .warning,
                    message: "Apple's key set cannot be fetched; the last good one serves on",
                    fields: fields)
            ]
        case .none:
            [
                Line(
                    level: .error,
                    message:
                        "Apple's key set cannot be fetched and there is no usable one: no token is verified",
                    fields: fields)
            ]
        }
    }

    /// - Parameter failure: The reason why the database accepts no commands; `nil` if it accepts them.
    mutating func notice(_ failure: StorageError?) -> [Line] {
        guard failure?.code != databaseFailure else { return [] }
        databaseFailure = failure?.code
        guard let failure else { return [Line(level: .notice, message: "the database is back")] }
        var fields = ["cause": failure.code.rawValue]
        if !failure.detail.isEmpty { fields["detail"] = failure.detail }
        return [Line(level: .error, message: "the database is lost", fields: fields)]
    }

    /// Returns lines about a team's signing keys. The keys that the first check finds are not logged.
    mutating func notice(_ found: SigningKeys, ofTeam team: String) -> [Line] {
        let before = signingKeys.updateValue(found, forKey: team)
        guard let before else { return trouble(found.trouble, before: nil, team) }
        let appeared = found.keyIDs.subtracting(before.keyIDs).sorted().map { keyID in
            Line(
                level: .notice, message: "a signing key appeared",
                fields: ["key_id": keyID, "team_id": team])
        }
        let gone = before.keyIDs.subtracting(found.keyIDs).sorted().map { keyID in
            Line(
                level: .warning,
                message: found.keyIDs.isEmpty
                    ? "the last signing key is gone: Apple cannot be asked" : "a signing key is gone",
                fields: ["key_id": keyID, "team_id": team])
        }
        return appeared + gone + trouble(found.trouble, before: before.trouble, team)
    }

    private func trouble(_ current: String?, before: String?, _ team: String) -> [Line] {
        guard current != before else { return [] }
        guard let current else {
            return [
                Line(level: .notice, message: "signing keys can be read again", fields: ["team_id": team])
            ]
        }
        return [
            Line(
                level: .warning,
                message: "a signing key cannot be read; one that was read before stays in use",
                fields: ["team_id": team, "cause": current])
        ]
    }
}

/// Database metrics: readiness, and the standbys that commits wait for.
struct DatabaseGauges: Sendable {
    private struct Standbys: Sendable {
        let required: Meter
        let connected: Meter
        let watched: Watched<StandbyCondition?>
    }

    /// Maximum age of a known standby count; an older count is unknown. Commits that wait for a lost standby
    /// can block all connections, but not for this long.
    static let longestAge = Duration.seconds(120)

    private let isReady: Meter
    /// The standby metrics; `nil` on SQLite.
    private let standbys: Standbys?

    /// - Parameter standbys: The standbys' condition, which the console also reads; `nil` on SQLite.
    init(standbys: Watched<StandbyCondition?>?, factory: any MetricsFactory = MetricsSystem.factory) {
        func meter(_ name: String, _ help: String) -> Meter {
            (factory as? any DescribedMetricsFactory)?.describeMeter(name, help: help)
            return Meter(label: name, factory: factory)
        }
        isReady = meter("siwa_database_ready", "1 while the database accepts commands.")
        // The service has already opened and read the database at startup.
        isReady.set(1 as Int64)
        self.standbys = standbys.map { watched in
            Standbys(
                required: meter(
                    "siwa_database_standbys_required", "Standbys that a commit on PostgreSQL waits for."),
                connected: meter(
                    "siwa_database_standbys_connected", "Standbys of PostgreSQL that are connected."),
                watched: watched)
        }
        showStandbys()
    }

    /// - Parameter failure: The last check's error; `nil` if the database works.
    func show(_ failure: StorageError?) {
        isReady.set(failure == nil ? 1 : 0 as Int64)
        showStandbys()
    }

    private func showStandbys() {
        guard let standbys else { return }
        let condition = standbys.watched.latest(within: Self.longestAge).flatMap { $0 }
        standbys.required.set(condition.map { Double($0.required) } ?? .nan)
        standbys.connected.set(condition.map { Double($0.connected) } ?? .nan)
    }
}
