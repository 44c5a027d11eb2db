import AppleIdentity
import Foundation

/// A moment in the format of fixtures (RFC 3339 in UTC, whole seconds), read by Foundation.
struct Timestamp: Decodable, Hashable, Sendable {
    let secondsSince1970: Int64

    init(_ text: String) throws {
        secondsSince1970 = Int64(try Date(text, strategy: .iso8601).timeIntervalSince1970)
    }

    init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    func date(after seconds: Int64 = 0) throws -> NumericDate {
        guard let date = NumericDate(secondsSince1970: secondsSince1970 + seconds) else {
            throw FixtureError("a moment out of range")
        }
        return date
    }
}
