/// Version of an app, such as `4.2.1`: numbers with dots between them.
///
/// Parts are compared as numbers, and a missing part is 0: `4.10` is above `4.9`, and `4.2` equals `4.2.0`.
public struct AppVersion: Sendable, Hashable {
    /// Parts without zeros at the end. Empty for version 0.
    private let parts: [UInt32]

    /// Number of parts at most, and of digits in a part: a version has 1 to 39 characters.
    static let (mostParts, mostDigits) = (4, 9)

    /// The form, in the words of errors.
    public static let form =
        "1 to \(mostParts) numbers of at most \(mostDigits) digits with dots between them"

    /// Returns `nil` unless the text is 1 to 4 numbers of 1 to 9 digits. A sign, white space, an empty part
    /// and a suffix such as `-beta` make it `nil`.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.mostParts * (Self.mostDigits + 1) - 1 else { return nil }
        var parts: [UInt32] = []
        for part in text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard (1...Self.mostDigits).contains(part.count), parts.count < Self.mostParts else { return nil }
            var number: UInt32 = 0
            for byte in part {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                // Nine digits stay below 2^30.
                number = number * 10 + UInt32(byte - UInt8(ascii: "0"))
            }
            parts.append(number)
        }
        while parts.last == 0 { parts.removeLast() }
        self.parts = parts
    }
}

extension AppVersion: Comparable {
    public static func < (lhs: AppVersion, rhs: AppVersion) -> Bool {
        lhs.parts.lexicographicallyPrecedes(rhs.parts)
    }
}

extension AppVersion: CustomStringConvertible {
    public var description: String {
        parts.isEmpty ? "0" : parts.map(String.init).joined(separator: ".")
    }
}
