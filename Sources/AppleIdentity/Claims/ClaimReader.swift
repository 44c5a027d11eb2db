import Encodings
import StrictJSON

/// Reads typed claims from a payload in one pass.
///
/// A claim of the wrong type is recorded and skipped. A payload that is not strict JSON further on is thereby
/// refused as malformed JSON, not because of the claim.
struct ClaimReader {
    private var json: JSONReader
    private(set) var malformed: String?

    init(_ payload: [UInt8]) {
        json = JSONReader(payload)
    }

    mutating func begin() throws(JSONError) {
        try json.beginObject()
    }

    mutating func next() throws(JSONError) -> JSONName? {
        try json.nextMember()
    }

    mutating func finish() throws(JSONError) {
        try json.finish()
    }

    mutating func skip() throws(JSONError) {
        try json.skipValue()
    }

    mutating func value() throws(JSONError) -> JSONValue {
        try json.readValue()
    }

    mutating func string(_ claim: StaticString) throws(JSONError) -> String? {
        guard try json.peekKind() == .string else { return try refuse(claim) }
        return try json.readString()
    }

    mutating func date(_ claim: StaticString) throws(JSONError) -> NumericDate? {
        guard try json.peekKind() == .number else { return try refuse(claim) }
        if case .integer(let seconds) = try json.readNumber(),
            let date = NumericDate(secondsSince1970: seconds)
        {
            return date
        }
        remember(claim)
        return nil
    }

    mutating func integer(_ claim: StaticString) throws(JSONError) -> Int64? {
        guard try json.peekKind() == .number else { return try refuse(claim) }
        if case .integer(let value) = try json.readNumber() { return value }
        remember(claim)
        return nil
    }

    /// Reads a boolean, or one of the strings "true" and "false" that Apple sent until 2023.
    mutating func flag(_ claim: StaticString) throws(JSONError) -> Bool? {
        switch try json.peekKind() {
        case .bool: return try json.readBool()
        case .string:
            let text = try json.readString()
            if text.isByteEqual(to: "true") { return true }
            if text.isByteEqual(to: "false") { return false }
            remember(claim)
            return nil
        case .object, .array, .number, .null: return try refuse(claim)
        }
    }

    mutating func audience() throws(JSONError) -> Audience? {
        switch try json.peekKind() {
        case .string: return .one(try json.readString())
        case .array:
            try json.skipValue()
            return .several
        case .object, .number, .bool, .null: return try refuse("aud")
        }
    }

    private mutating func refuse<Value>(_ claim: StaticString) throws(JSONError) -> Value? {
        remember(claim)
        try json.skipValue()
        return nil
    }

    private mutating func remember(_ claim: StaticString) {
        if malformed == nil { malformed = "\(claim)" }
    }
}
