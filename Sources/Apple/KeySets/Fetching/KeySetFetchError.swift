/// Reason of a fetch without a usable key set. Match on `code`; equality is on `code`.
public typealias KeySetFetchError = KeySetFailure<KeySetFetchErrorCode>

/// A closed list, so that it can label a metric.
public enum KeySetFetchErrorCode: String, KeySetFailureCode {
    public static let subject = "key set not fetched"

    /// The connection could not be made, or it broke.
    case unreachable
    case timedOut = "timed_out"
    /// Neither 200 nor a 304 to a conditional request. Redirects are not followed.
    case statusUnexpected = "status_unexpected"
    case empty
    /// More than 64 KiB.
    case tooLarge = "too_large"
    /// A web page: an error page, a maintenance notice, a captive portal.
    case html
    /// Not a JSON Web Key Set.
    case malformed
    /// A key set in which no key may be used for verification.
    case noUsableKey = "no_usable_key"
}
