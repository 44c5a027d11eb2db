/// The caller named a client ID that belongs to no app of this deployment.
public struct UnknownClientID: Error, Sendable, Equatable {
    public init() {}
}
