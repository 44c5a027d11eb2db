import Encodings

/// The name of a receiver of events, by which the configuration and the rows know it: 1 to 64 letters, digits,
/// ".", "-" and "_", or "client:" and the ID of an OAuth client.
public struct ReceiverName: Hashable, Sendable {
    public static let longest = 64

    /// The built-in receiver that tells Google of ended refresh tokens. No webhook can have this name.
    public static let google = ReceiverName(builtIn: "google")

    /// Begins the names of the streams of OAuth clients. No other name has a colon.
    static let clientPrefix = "client:"

    public let rawValue: String

    /// The receiver of the events for an OAuth client.
    ///
    /// - Parameter client: Has the characters that the configuration accepts.
    public init(of client: OAuthClientID) {
        rawValue = Self.clientPrefix + client.rawValue
    }

    /// True for the stream of an OAuth client.
    public var isOfClient: Bool { rawValue.hasPrefix(Self.clientPrefix) }

    private init(builtIn name: String) { rawValue = name }

    public init?(_ text: String) {
        if text.hasPrefix(Self.clientPrefix) {
            let id = text.dropFirst(Self.clientPrefix.count)
            guard (1...128).contains(id.utf8.count), String(id).hasOnlyLettersDigits(and: ".-_~") else {
                return nil
            }
            rawValue = text
            return
        }
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
