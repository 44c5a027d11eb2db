import Encodings
import StrictJSON

/// Reads typed claims from a payload in one pass.
///
/// A claim of the wrong type is recorded and skipped. A payload that is not strict JSON further on is thereby
/// refused as malformed JSON, not because of the claim.
struct ClaimReader {
    private var json: JSONReader
    private(set) var malformed: String?
    /// Claims that decide nothing and are malformed: they are dropped, and do not refuse the token.
    var dropped: DroppedClaims = []

    init(_ payload: [UInt8]) {
        json = JSONReader(payload)
    }

    /// Returns `iat` as a payload of unknown origin claims it; `nil` when it has none, or is not JSON.
    static func issuedAt(claimedIn payload: [UInt8]) -> NumericDate? {
        var claims = ClaimReader(payload)
        do throws(JSONError) {
            try claims.begin()
            while let name = try claims.next() {
                if name == "iat" { return try claims.date("iat") }
                try claims.skip()
            }
        } catch {
            return nil
        }
        return nil
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

    /// - Parameter dropping: Set for a claim that decides nothing.
    mutating func string(
        _ claim: StaticString, dropping: DroppedClaims = []
    ) throws(JSONError) -> String? {
        guard try json.peekKind() == .string else { return try refuse(claim, dropping) }
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

    mutating func integer(
        _ claim: StaticString, dropping: DroppedClaims = []
    ) throws(JSONError) -> Int64? {
        guard try json.peekKind() == .number else { return try refuse(claim, dropping) }
        if case .integer(let value) = try json.readNumber() { return value }
        remember(claim, dropping)
        return nil
    }

    /// Reads a boolean, or one of the strings "true" and "false" that Apple sent until 2023.
    mutating func flag(
        _ claim: StaticString, dropping: DroppedClaims = []
    ) throws(JSONError) -> Bool? {
        switch try json.peekKind() {
        case .bool: return try json.readBool()
        case .string:
            let text = try json.readString()
            if text.isByteEqual(to: "true") { return true }
            if text.isByteEqual(to: "false") { return false }
            remember(claim, dropping)
            return nil
        case .object, .array, .number, .null: return try refuse(claim, dropping)
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

    private mutating func refuse<Value>(
        _ claim: StaticString, _ dropping: DroppedClaims = []
    ) throws(JSONError) -> Value? {
        remember(claim, dropping)
        try json.skipValue()
        return nil
    }

    private mutating func remember(_ claim: StaticString, _ dropping: DroppedClaims = []) {
        if !dropping.isEmpty {
            dropped.formUnion(dropping)
        } else if malformed == nil {
            malformed = "\(claim)"
        }
    }
}
