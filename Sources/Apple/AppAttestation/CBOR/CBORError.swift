import Encodings

/// Reason of the refusal of CBOR.
///
/// `detail` names a byte position: it is for a debugger, never for a log or a response.
struct CBORError: CodedError {
    enum Code: String, Sendable, CaseIterable {
        /// The bytes end inside an item.
        case truncated
        /// Bytes follow the item.
        case trailingBytes = "trailing_bytes"
        /// A string, array or map without a length in front.
        case indefiniteLength = "indefinite_length"
        /// A number or a length that fits into fewer bytes.
        case lengthNotMinimal = "length_not_minimal"
        /// A tag, a float, or a simple value other than false, true and null.
        case typeNotAllowed = "type_not_allowed"
        /// A key of a map that is neither an integer nor text.
        case keyNotAllowed = "key_not_allowed"
        case duplicateKey = "duplicate_key"
        /// Text that is not UTF-8.
        case textInvalid = "text_invalid"
        case tooDeep = "too_deep"
        case tooLarge = "too_large"
        case tooManyItems = "too_many_items"
    }

    let code: Code
    let detail: String

    init(_ code: Code, detail: String = "") {
        (self.code, self.detail) = (code, detail)
    }
}

extension CBORError: CustomDebugStringConvertible {
    var description: String { "CBOR: \(code.rawValue)" }
    var debugDescription: String { "\(description) (\(detail))" }
}
