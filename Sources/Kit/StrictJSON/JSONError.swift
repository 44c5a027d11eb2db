public import Encodings

/// Reason of a document's refusal.
///
/// `detail` names a byte position or a rule and may repeat a part of the document: it is for a debugger,
/// never for a log or a response.
public struct JSONError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// Not strict JSON, or beyond the limits of the reader.
        case jsonInvalid = "json_invalid"
        /// A string contains U+0000, which is an error in PostgreSQL and the end of a string in C.
        case characterNotAllowed = "character_not_allowed"
    }

    public let code: Code
    public let detail: String

    public init(_ code: Code, detail: String = "") {
        (self.code, self.detail) = (code, detail)
    }
}

extension JSONError: CustomDebugStringConvertible {
    public var description: String { "JSON: \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}
