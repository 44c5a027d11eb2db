import HTTPEngine
import StrictJSON

/// Problems about unknown names. A text that looks like a name is repeated. Anything else could be a secret.
extension Problem {
    static func unknownMember(_ name: JSONName) -> Problem {
        let text = name.string
        return Problem(.memberUnknown, subject: isPlain(text.utf8) ? .member(text) : nil)
    }

    /// - Parameter name: The name in the query, not decoded.
    static func unknownParameter(_ name: some Collection<UInt8>) -> Problem {
        Problem(
            .parameterUnknown,
            subject: isPlain(name) ? .parameter(String(decoding: name, as: UTF8.self)) : nil)
    }

    private static func isPlain(_ name: some Collection<UInt8>) -> Bool {
        (1...32).contains(name.count)
            && name.allSatisfy(plainCharacters.contains)
    }

    private static let plainCharacters = ASCIISet(lettersDigitsAnd: "_-")
}
