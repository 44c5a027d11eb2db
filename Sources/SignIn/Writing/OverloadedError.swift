/// The command was not taken: too many wait already, or the service is about to stop. It can be sent again.
public struct OverloadedError: Error, Sendable, Equatable {
    public init() {}
}
