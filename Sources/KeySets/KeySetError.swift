/// Reason for a missing key. Match on `code`; equality is on `code`.
public typealias KeySetError = KeySetFailure<KeySetErrorCode>

public enum KeySetErrorCode: String, KeySetFailureCode {
    public static let subject = "no verification key"

    /// The set was fetched recently and has no usable key with this ID: the token is not Apple's.
    case unknownKey = "unknown_key"
    /// There is no usable set, or the latest attempt to refresh it failed. The token may be Apple's; the
    /// caller should retry later.
    case keysUnavailable = "keys_unavailable"
}
