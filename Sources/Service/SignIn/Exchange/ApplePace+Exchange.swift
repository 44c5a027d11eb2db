import AppleAccounts
import AppleIDClient

extension ApplePace {
    /// Learns from an exchange that failed. While Apple is unreachable the circuit of the client stops the
    /// calls, and each code waits for itself.
    mutating func exchangeFailed(
        _ error: AppleCallError, of clientID: ClientID, at now: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        switch error.code {
        case .throttled:
            throttled(at: now, retryAfter: error.retryAfter, using: &generator)
        case .rejected where error.isOfConfiguration:
            _ = refused(clientID, at: now)
        case .rejected:
            reached(clientID)
        case .unreachable, .circuitOpen, .timedOut, .connectionLost, .responseUnusable, .serverFailed,
            .noSigningKey, .signingFailed:
            break
        }
    }
}
