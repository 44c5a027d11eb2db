/// Result of judging one request.
public struct AppCheckDecision: Sendable, Equatable {
    /// Kind under which the request is counted.
    public let kind: AppCheckKind
    /// Refusal of the request; `nil` when it goes on. Never there in monitored mode.
    public let refusal: AppCheckRefusal?
}
