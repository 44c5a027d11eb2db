/// The command was not accepted: too many commands wait already, or the service is about to stop. The caller
/// can retry.
public struct OverloadedError: Error, Sendable, Equatable {
    public init() {}
}
