import AppleAccounts
import AppleIdentity

extension NumericDate {
    /// RFC 3339 in UTC.
    var rfc3339: String { Moment(seconds: secondsSince1970).rfc3339 }
}
