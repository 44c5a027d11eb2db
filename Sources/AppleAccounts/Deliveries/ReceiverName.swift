import Encodings

/// The name of a receiver of events, by which the configuration and the rows know it: 1 to 64 letters, digits,
/// ".", "-" and "_".
public struct ReceiverName: Hashable, Sendable {
    public static let longest = 64

    /// The built-in receiver that tells Google of ended refresh tokens. No webhook can have this name.
    public static let google = ReceiverName(builtIn: "google")

    public let rawValue: String

    private init(builtIn name: String) { rawValue = name }

    public init?(_ text: String) {
        guard (1...Self.longest).contains(text.utf8.count), text.hasOnlyLettersDigits(and: ".-_") else {
            return nil
        }
        rawValue = text
    }
}

extension ReceiverName: Comparable {
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

extension ReceiverName: CustomStringConvertible {
    public var description: String { rawValue }
}
