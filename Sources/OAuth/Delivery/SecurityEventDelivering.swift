import AppleAccounts
import AuthorizationServer
import JOSE
public import Logging
public import ServiceLifecycle
import SignIn

/// Notifies Google of refresh tokens that have ended (RISC, `token-revoked`), with retries over seven days.
///
/// A delivery is written in the transaction that ends the token, so a crash loses none. A worker claims a
/// delivery before it sends it; a crash after the claim costs 30 seconds, and Google may then get the token
/// twice, with the same `jti`.
public struct SecurityEventDelivering: Service {
    /// Milliseconds of a claim: longer than one report can take.
    static let lease: Int64 = 30_000
    /// Milliseconds after which a delivery is given up: seven days.
    static let lifetime: Int64 = 7 * 86_400_000
    /// Longest time between two looks. No signal is sent for deliveries of notifications and of other
    /// processes.
    static let longestLook = Duration.seconds(10)

    private let store: any AuthorizationStore
    private let keys: SigningKeys
    private let issuer: String
    private let reporting: any SecurityEventReporting
    private let signal: WakeupSignal
    private let width: Int
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Moment
    private let log: ThrottledLog
    private let logger: Logger
    private let backoff = Backoff(first: .seconds(10), longest: .seconds(3600))
    private let metrics = DeliveryMetrics()

    /// - Parameters:
    ///   - server: Wakes the worker when one of its commands ends a token.
    ///   - width: Number of reports at once.
    public init(
        server: OAuthServer, reporting: any SecurityEventReporting, width: Int = 8,
        clock: any Clock<Duration> = ContinuousClock(), logger: Logger
    ) {
        store = server.parts.store
        keys = server.parts.keys
        issuer = server.parts.settings.issuer.text
        signal = server.deliverySignal
        now = server.parts.now
        self.reporting = reporting
        self.width = width
        self.clock = clock
        self.logger = logger
        log = ThrottledLog(logger)
    }

    public func run() async throws {
        await WorkerPool(width: width, signal: signal, clock: clock).run(claim: claim, perform: perform)
    }

    func claim(_ limit: Int) async -> WorkerPool<SecurityEventDelivery>.Claim {
        let moment = now()
        do {
            let deliveries = try await store.claimDeliveries(
                limit: limit, at: moment, leaseUntil: moment.advanced(byMilliseconds: Self.lease))
            // An error here must not lose the claimed deliveries.
            let due = deliveries.count < limit ? try? await store.nextDeliveryDue() : nil
            return WorkerPool.Claim(work: deliveries, due: due, at: moment, atMost: Self.longestLook)
        } catch {
            tell("no security events could be claimed", error, at: moment)
            return .failed(pause: .seconds(5))
        }
    }

    func perform(_ delivery: SecurityEventDelivery) async {
        let moment = now()
        guard moment < delivery.createdAt.advanced(byMilliseconds: Self.lifetime) else {
            metrics.count(.abandoned)
            logger.error(
                "a security event was given up",
                metadata: ["oauth_client": "\(delivery.oauthClientID.rawValue)"])
            return await remove(delivery)
        }
        do {
            let event = TokenRevokedEvent(
                issuer: issuer, id: delivery.id, doubleSHA512: delivery.doubleSHA512,
                issuedAt: delivery.createdAt.milliseconds / 1000)
            let token = try event.signed(with: try await keys.signingKey(.RS256))
            try await reporting.report(token)
        } catch {
            // The task was cut off during the report: the claim expires, and the delivery is tried again.
            if Task.isCancelled { return }
            return await postpone(delivery, because: error, at: moment)
        }
        metrics.count(.delivered)
        await remove(delivery)
    }

    private func postpone(
        _ delivery: SecurityEventDelivery, because error: any Error, at moment: Moment
    ) async {
        metrics.count(.failed)
        tell("a security event was not delivered", error, at: moment)
        let delay = backoff.delay(after: Int(clamping: delivery.attempts))
        let end = delivery.createdAt.advanced(byMilliseconds: Self.lifetime)
        do {
            // The delivery is due again at the end of its lifetime at the latest, where it is given up.
            try await store.postponeDelivery(
                delivery.id, until: min(now().advanced(byMilliseconds: delay), max(end, now())))
        } catch {
            // The claim then expires by itself.
            tell("a security event was not released", error, at: moment)
        }
    }

    private func remove(_ delivery: SecurityEventDelivery) async {
        do {
            try await store.removeDelivery(delivery.id)
        } catch {
            // The event is sent again, with the same jti.
            tell("a delivered security event was not removed", error, at: now())
        }
    }

    private func tell(_ message: Logger.Message, _ error: any Error, at moment: Moment) {
        log.tell(message, about: error, at: moment)
    }
}
