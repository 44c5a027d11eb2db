package import AppleAccounts
import AsyncHTTPClient
import AuthorizationServer
import Commits
import EventDelivery
import HTTPEngine
import Logging
import NIOSSL
import OAuth
import ServiceLifecycle
import SignIn

/// Event delivery, composed from the settings.
///
/// Absent if there are no receivers, so that no worker runs and no state is stored.
package struct ComposedDeliveries {
    /// Services in service group order. They stop in reverse order: first the worker finishes its attempts,
    /// then the connections close.
    let services: [any Service]
    /// Signing keys for a service without OAuth clients. `nil` if there are OAuth clients, or if the service
    /// signs no tokens.
    let ownKeys: SigningKeys?
    /// The polls and event streams; `nil` if no receiver polls and no OAuth client has a stream.
    let streams: EventStreams?
    private let names: [ReceiverName]
    private let store: any ServiceStore
    private let now: @Sendable () -> Moment
    /// Wakes the worker that pushes events.
    let wake: @Sendable () -> Void
    /// Returns this process's last failed attempt to deliver to a receiver.
    let lastFailure: @Sendable (ReceiverName) -> DeliveryFailure?

    /// Creates the deliveries, and stores each new receiver with a position at the end of the feed.
    ///
    /// - Parameters:
    ///   - keys: The authorization server's keys, which also sign security event tokens.
    ///   - client: The HTTP client for reports to Google. Its owner shuts it down after the services have
    ///     stopped.
    /// - Returns: `nil` if there are no receivers.
    /// - Throws: `StorageError` if a database operation fails.
    init?(
        settings: ServiceSettings, store: any ServiceStore, feed: EventFeed, keys: SigningKeys?,
        client: HTTPClient,
        resolver: any AddressResolver = SystemAddressResolver(), now: @escaping @Sendable () -> Moment,
        logger: Logger
    ) async throws {
        guard !settings.receiverNames.isEmpty else { return nil }
        ownKeys = Self.ownKeys(settings, besides: keys, in: store, now: now, logger: logger)
        let keys = keys ?? ownKeys
        // In development, receivers run on the same machine.
        let ownMachine =
            settings.environment == .development
            ? ["127.0.0.0/8", "::1"].compactMap { AddressBlock($0) } : []
        var destinations: [HTTPEventDestination] = []
        var receivers = try settings.webhooks.map { webhook in
            let destination = HTTPEventDestination(
                webhook.url, rule: DestinationAddresses(allowed: webhook.networks + ownMachine),
                resolver: resolver,
                tls: try Self.tls(of: webhook))
            destinations.append(destination)
            return EventReceiver(
                name: webhook.name, kinds: webhook.kinds, scope: webhook.scope,
                format: Self.format(of: webhook, issuer: settings.eventIssuer, keys: keys),
                destination: destination)
        }
        if settings.tellsGoogle, let oauth = settings.oauth, let keys {
            receivers.append(Self.google(oauth.issuer.text, keys, settings, client))
        }
        let keyed = Self.keyedReceivers(settings, keys)
        let clients = Self.clientFormats(settings, store, keys)
        for (stream, format) in clients {
            guard let push = stream.push else { continue }
            let destination = HTTPEventDestination(
                push.url, rule: DestinationAddresses(allowed: push.networks + ownMachine), resolver: resolver)
            destinations.append(destination)
            receivers.append(
                EventReceiver(
                    name: stream.name, kinds: stream.kinds, scope: .all, format: format,
                    destination: destination))
        }
        names = settings.receiverNames
        try await store.addReceivers(names, at: now())
        let polled = keyed.map(\.receiver) + clients.compactMap { $0.push == nil ? $0.polled($1) : nil }
        let worker = EventDelivering(receivers: receivers, store: store, feed: feed, now: now, logger: logger)
        streams =
            keyed.isEmpty && clients.isEmpty
            ? nil
            : EventStreams(
                polling: EventPolling(store: store, feed: feed, now: now, logger: logger), keyed: keyed,
                clients: Dictionary(
                    clients.map { ($0.client, $0.stream($1)) }, uniquingKeysWith: { first, _ in first }),
                store: store, wake: { worker.wake() }, now: now)
        var services: [any Service] = ownKeys.map { [SigningKeyRotation(keys: $0, logger: logger)] } ?? []
        services += [
            DestinationsService(destinations: destinations),
            ReceiverMonitor(receivers: receivers, polled: polled, store: store),
        ]
        if !polled.isEmpty {
            services.append(AbandonedReceivers(receivers: polled, store: store, now: now, logger: logger))
        }
        if !receivers.isEmpty { services.append(ClaimLoop(worker)) }
        self.services = services
        (self.store, self.now) = (store, now)
        wake = { worker.wake() }
        lastFailure = { worker.lastFailure(of: $0) }
    }

    private static func google(
        _ issuer: String, _ keys: SigningKeys, _ settings: ServiceSettings, _ client: HTTPClient
    ) -> EventReceiver {
        EventReceiver(
            name: .google, kinds: GoogleReportFormat.kinds, scope: .all,
            format: GoogleReportFormat(issuer: issuer) { try await keys.googleSigningKey() },
            destination: GoogleEventReporter(client: client, endpoints: settings.googleEndpoints))
    }

    /// Creates signing keys if there are no OAuth clients but receivers get security event tokens.
    private static func ownKeys(
        _ settings: ServiceSettings, besides keys: SigningKeys?, in store: any AuthorizationStore,
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) -> SigningKeys? {
        guard keys == nil, settings.signsEvents, let sealingKeys = settings.sealingKeys else { return nil }
        return SigningKeys(forEventsIn: store, sealingKeys: sealingKeys, now: now, logger: logger)
    }

    /// Returns the configured receivers' stored states.
    package func states() async throws -> ReceiverStates {
        ReceiverStates(
            configured: names, stored: try await store.receivers(),
            lastSequence: try await store.lastEventSequence())
    }

    /// Delivers a receiver's waiting events immediately, for `siwa dev`. If no events wait, the receiver's
    /// claim stays unchanged.
    package func resume(_ name: ReceiverName) async throws {
        let stored = try await store.receivers().first { $0.record.name == name }
        guard let stored, stored.record.pausedAt != nil || !stored.retries.isEmpty else { return }
        _ = try await store.resumeReceiver(name, at: now())
        wake()
    }

    private static func tls(of webhook: WebhookSettings) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let authority = webhook.authority {
            configuration.trustRoots = .certificates(
                try NIOSSLCertificate.fromPEMBytes(Array(authority.utf8)))
        }
        return configuration
    }

    private static func format(
        of webhook: WebhookSettings, issuer: String?, keys: SigningKeys?
    ) -> any EventFormat {
        guard let audience = webhook.audience, let issuer, let keys else {
            return WebhookFormat(secrets: webhook.secrets)
        }
        return SecurityEventFormat(issuer: issuer, audience: audience) { try await keys.eventSigningKey() }
    }

    private static func keyedReceivers(
        _ settings: ServiceSettings, _ keys: SigningKeys?
    ) -> [EventStreams.KeyedReceiver] {
        guard let issuer = settings.eventIssuer, let keys else { return [] }
        return settings.polledReceivers.map { receiver in
            EventStreams.KeyedReceiver(
                PolledReceiver(
                    name: receiver.name, kinds: receiver.kinds, scope: receiver.scope,
                    format: SecurityEventFormat(issuer: issuer, audience: receiver.audience) {
                        try await keys.eventSigningKey()
                    }), keyName: receiver.keyName)
        }
    }

    private static func clientFormats(
        _ settings: ServiceSettings, _ store: any DeliveryStore, _ keys: SigningKeys?
    ) -> [(ClientStreamSettings, any EventFormat)] {
        guard let issuer = settings.oauth?.issuer.text, let keys else { return [] }
        return settings.clientStreams.map { stream in
            let format = ClientEventFormat(issuer: issuer, client: stream.client, store: store) {
                try await keys.eventSigningKey()
            }
            return (stream, format)
        }
    }
}

extension ClientStreamSettings {
    /// Returns a client's receiver. A client also receives events about users of other apps if those users
    /// have given it a grant, so the format selects the events.
    fileprivate func polled(_ format: any EventFormat) -> PolledReceiver {
        PolledReceiver(name: name, kinds: kinds, scope: .all, format: format)
    }

    fileprivate func stream(_ format: any EventFormat) -> EventStreams.ClientStream {
        EventStreams.ClientStream(
            name: name, kinds: kinds, delivery: push.map { .push(url: $0.text) } ?? .poll(polled(format)))
    }
}

/// Closes the connections to receivers once the worker that uses them has stopped.
struct DestinationsService: Service {
    let destinations: [HTTPEventDestination]

    func run() async throws {
        try? await gracefulShutdown()
        for destination in destinations { await destination.close() }
    }
}
