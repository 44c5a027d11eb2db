/// Reason for a missing key. Match on `code`; equality is on `code`.
public typealias KeySetError = KeySetFailure<KeySetErrorCode>

public enum KeySetErrorCode: String, KeySetFailureCode {
    public static let subject = "no verification key"

    /// A fetch has looked for this ID and not found it, or the token is older than the set: the token is not
    /// Apple's.
    case unknownKey = "unknown_key"
    /// There is no usable set, or no fetch has looked for this key. The token may be Apple's; the caller
    /// should retry after `retryAfter` seconds.
    case keysUnavailable = "keys_unavailable"
}
