/// The caller may not ask about this app.
public struct CallerForbidden: Error, Sendable, Equatable {
    public init() {}
}
