import AppleAccounts
import AppleIDClient
import HTTPAPI
import KeySets
import Logging
import ServiceLifecycle

/// Checks Apple's key set, the database and the signing keys every two seconds, logs changes, and shows the
/// state of the database in the metrics.
struct HealthMonitor: Service {
    /// The interval of the checks. Each costs one small read of the database.
    static let interval = Duration.seconds(2)
    /// Number of checks between two samples of the stored values: one sample every ten minutes.
    static let checksPerSample = 300

    let keys: any VerificationKeys
    let store: any AccountStore
    let signingKeys: SigningKeyFiles
    let teams: [String]
    let warnings: ServiceWarnings
    /// Sample taken at the start of the service.
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
        // Returning early would stop the whole service.
        try? await gracefulShutdown()
    }

    private func look(_ log: inout HealthLog) async {
        write(log.notice(keys.health.status))
        write(log.notice(secondsAhead: warnings.secondsAhead))
        for team in teams {
            let (keys, trouble) = signingKeys.look(atTeam: team)
            // An empty directory is not a read error: its keys were removed.
            let isRead = trouble == nil || trouble?.code == .noKey
            let found = HealthLog.SigningKeys(
                keyIDs: Set(keys.map(\.keyID)), trouble: isRead ? nil : trouble?.errorText)
            write(log.notice(found, ofTeam: team))
        }
        let failure = await databaseFailure()
        // The result of a cancelled check does not describe the database.
        guard !Task.isCancelled else { return }
        gauges.show(failure)
        write(log.notice(failure))
    }

    /// Opens a sample of the stored values. Does nothing when the database does not respond.
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
        // First, because it changes the number of all values.
        shutSigningKeys = Int64(sample.shutKeys.count)
        (unreadableValues, sampledValues) = (Int64(sample.unreadable), Int64(sample.tried))
    }
}
