public import AppleAccounts

/// Receivers that call this service: configured receivers that poll, and OAuth clients with streams.
public final class EventStreams: Sendable {
    /// A configured receiver that polls with an API key.
    public struct KeyedReceiver: Sendable {
        public let receiver: PolledReceiver
        /// The name of the API key that may poll. No other key may poll.
        public let keyName: String

        public init(_ receiver: PolledReceiver, keyName: String) {
            (self.receiver, self.keyName) = (receiver, keyName)
        }
    }

    /// The event stream of an OAuth client.
    public struct ClientStream: Sendable {
        public enum Delivery: Sendable {
            case push(url: String)
            case poll(PolledReceiver)
        }

        public let name: ReceiverName
        public let kinds: Set<AccountEvent.Kind>
        public let delivery: Delivery

        public init(name: ReceiverName, kinds: Set<AccountEvent.Kind>, delivery: Delivery) {
            (self.name, self.kinds, self.delivery) = (name, kinds, delivery)
        }
    }

    public let polling: EventPolling
    private let keyed: [ReceiverName: KeyedReceiver]
    private let clients: [OAuthClientID: ClientStream]
    private let store: any DeliveryStore
    private let now: @Sendable () -> Moment
    private let wake: @Sendable () -> Void

    /// - Parameter wake: Wakes the push worker when it has a verification to send.
    public init(
        polling: EventPolling, keyed: [KeyedReceiver], clients: [OAuthClientID: ClientStream],
        store: any DeliveryStore, wake: @escaping @Sendable () -> Void = {},
        now: @escaping @Sendable () -> Moment
    ) {
        self.polling = polling
        self.keyed = Dictionary(keyed.map { ($0.receiver.name, $0) }, uniquingKeysWith: { first, _ in first })
        (self.clients, self.store, self.wake, self.now) = (clients, store, wake, now)
    }

    /// True if at least one receiver polls with an API key.
    public var hasKeyedReceivers: Bool { !keyed.isEmpty }
    public var hasClients: Bool { !clients.isEmpty }

    /// Returns the receiver that the caller may poll; `nil` for an unknown name, and for another caller's
    /// receiver.
    ///
    /// - Parameter keyName: The name of the caller's API key; `nil` if the service has no API keys, as in
    ///   development.
    public func receiver(named name: String, for keyName: String?) -> PolledReceiver? {
        guard let found = ReceiverName(name).flatMap({ keyed[$0] }) else { return nil }
        return keyName.map { $0.utf8.elementsEqual(found.keyName.utf8) } ?? true ? found.receiver : nil
    }

    public func stream(of client: OAuthClientID) -> ClientStream? { clients[client] }

    /// Requests a verification event on a stream. The client gets the event by push within seconds, or with
    /// its next poll.
    ///
    /// - Throws: `StorageError` if a database operation fails.
    public func requestVerification(
        of name: ReceiverName, state: String?
    ) async throws -> VerificationRequestResult {
        var generator = SystemRandomNumberGenerator()
        let moment = now()
        let result = try await store.requestVerification(
            StreamVerification(id: EventID(UniqueID(at: moment, using: &generator)), state: state), of: name,
            at: moment)
        if result == .accepted { wake() }
        return result
    }
}
