public import AppAttestation

/// Result of judging a request that goes on, as callers see it.
public struct AppCheckResult: Sendable, Equatable {
    public let kind: AppCheckKind
    /// Reason why the proof does not hold; `nil` for other kinds.
    public let cause: AppCheckCause?
    /// Facts of iOS 27 in an assertion that holds; `nil` for other kinds. They do not decide.
    public let extensions: AuthenticatorExtensions?

    init(kind: AppCheckKind, found: AppCheckProof, extensions: AuthenticatorExtensions?) {
        self.kind = kind
        switch found {
        case .holds: (cause, self.extensions) = (nil, extensions)
        case .doesNotHold(let cause): (self.cause, self.extensions) = (cause, nil)
        case .absent: (cause, self.extensions) = (nil, nil)
        }
    }
}
