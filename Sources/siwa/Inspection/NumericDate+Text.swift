import AppleAccounts
import AppleIdentity

extension NumericDate {
    /// RFC 3339 in UTC.
    var text: String { Moment(seconds: secondsSince1970).rfc3339 }

    /// Returns the time that is this many seconds later or earlier, or the nearest end of the range.
    func advanced(bySeconds seconds: Int64) -> NumericDate {
        NumericDate(clampingSecondsSince1970: secondsSince1970 + seconds)
    }
}
