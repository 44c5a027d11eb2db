public import AppleAccounts

/// A receiver that asks for its events (RFC 8936), from the configuration.
public struct PolledReceiver: Sendable {
    public let name: ReceiverName
    public let kinds: Set<AccountEvent.Kind>
    /// The apps whose events the receiver gets, by the rule of the event feed.
    public let scope: AppScope
    public let format: any EventFormat

    public init(
        name: ReceiverName, kinds: Set<AccountEvent.Kind>, scope: AppScope, format: any EventFormat
    ) {
        (self.name, self.kinds, self.scope, self.format) = (name, kinds, scope, format)
    }
}
