package import AppleAccounts
package import AuthorizationServer
import JOSE
package import Logging
import SecurityEvents
package import SignIn

/// Notifies Google of refresh tokens that have ended (RISC, `token-revoked`), with retries over seven days.
///
/// A delivery is written in the transaction that ends the token, so a crash loses none. A worker claims a
/// delivery before it sends it; a crash after the claim costs 30 seconds, and Google may then get the token
/// twice, with the same `jti`.
package struct SecurityEventDelivering: Worker {
    package static let traits = WorkerTraits(
        // No signal is sent for deliveries of notifications and of other processes.
        width: 8, longestLook: .seconds(10), failurePause: .seconds(5),
        unclaimed: "no security events could be claimed", counter: "siwa_google_events_sent",
        help: "Security events for Google by result.")
    /// Milliseconds of a claim: longer than one report can take.
    static let lease: Int64 = 30_000
    /// Milliseconds after which a delivery is given up: seven days.
    static let lifetime: Int64 = 7 * 86_400_000

    package enum WorkResult: String, CountedResult {
        case delivered
        /// The delivery failed and is tried again.
        case failed
        /// The delivery was not accepted within seven days.
        case abandoned
    }

    package let context: WorkerContext<WorkResult>
    private let store: any AuthorizationStore
    private let keys: SigningKeys
    private let issuer: String
    private let reporting: any SecurityEventReporting
    private let backoff = Backoff(first: .seconds(10), longest: .seconds(3600))

    /// - Parameter server: Wakes the worker when one of its commands ends a token.
    package init(
        server: OAuthServer, reporting: any SecurityEventReporting,
        clock: any Clock<Duration> = ContinuousClock(), logger: Logger
    ) {
        context = WorkerContext(
            for: Self.self, signals: server.signals, clock: clock, now: server.dependencies.now,
            logger: logger)
        store = server.dependencies.store
        keys = server.dependencies.keys
        issuer = server.dependencies.settings.issuer.text
        self.reporting = reporting
    }

    package var claimPace: SharedPace? { nil }

    package func claim(limit: Int, at moment: Moment) async throws -> [SecurityEventDelivery] {
        try await store.claimDeliveries(
            limit: limit, at: moment, leaseUntil: moment.advanced(byMilliseconds: Self.lease))
    }

    package func nextDue() async throws -> Moment? { try await store.nextDeliveryDue() }

    package func clientID(of delivery: SecurityEventDelivery) -> String { delivery.oauthClientID.rawValue }

    package func logMetadata(of delivery: SecurityEventDelivery) -> Logger.Metadata {
        ["oauth_client": "\(delivery.oauthClientID.rawValue)"]
    }

    package func perform(_ delivery: SecurityEventDelivery) async -> WorkOutcome<WorkResult> {
        let moment = now()
        guard moment < delivery.createdAt.advanced(byMilliseconds: Self.lifetime) else {
            tell("a security event was given up", of: delivery, level: .error)
            return remove(delivery, as: .abandoned)
        }
        do {
            let event = TokenRevokedEvent(
                issuer: issuer, id: delivery.id, doubleSHA512: delivery.doubleSHA512,
                issuedAt: delivery.createdAt.milliseconds / 1000)
            let token = try event.signed(with: try await keys.signingKey(.RS256))
            try await reporting.report(token)
        } catch {
            // The task was cut off during the report: the claim expires, and the delivery is tried again.
            if Task.isCancelled { return .cutOff }
            tell("a security event was not delivered", of: delivery, error, level: .warning)
            return postpone(delivery)
        }
        return remove(delivery, as: .delivered)
    }

    private func postpone(_ delivery: SecurityEventDelivery) -> WorkOutcome<WorkResult> {
        let moment = now()
        let delay = backoff.delay(after: Int(clamping: delivery.attempts))
        // The delivery is due again at the end of its lifetime at the latest, where it is given up.
        let end = max(delivery.createdAt.advanced(byMilliseconds: Self.lifetime), moment)
        let until = min(moment.advanced(byMilliseconds: delay), end)
        return .ends(
            .failed,
            with: ClaimEnd(unstored: "a security event was not released") {
                try await store.postponeDelivery(delivery.id, until: until)
            })
    }

    /// Ends the claim for good. Without this write the event is sent again, with the same `jti`.
    private func remove(
        _ delivery: SecurityEventDelivery, as result: WorkResult
    ) -> WorkOutcome<WorkResult> {
        .ends(
            result,
            with: ClaimEnd(unstored: "a delivered security event was not removed") {
                try await store.removeDelivery(delivery.id)
            })
    }
}
