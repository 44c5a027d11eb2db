import Encodings
import StrictJSON

/// Reads typed claims from a payload in one pass.
///
/// The reader records a claim with the wrong type and continues. If a JSON error follows, the payload is
/// refused as malformed JSON, not because of the claim.
struct ClaimReader {
    private var json: JSONReader
    private(set) var malformed: String?
    /// Malformed claims that were dropped. No decision depends on them, so the token stays valid.
    var dropped: DroppedClaims = []

    init(_ payload: [UInt8]) {
        json = JSONReader(payload)
    }

    /// Returns a payload's unverified `iat`; `nil` if there is none, or if the payload is not JSON.
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

    /// - Parameter dropping: The claim to drop if it is malformed. Set it only for claims that no decision
    ///   depends on.
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

/// Seconds since 1970-01-01T00:00:00Z, ignoring leap seconds (RFC 7519 §2), from 1970 to the end of 9999.
///
/// The range is part of the type, so that no arithmetic on a token's times can overflow. Otherwise an `exp`
/// near the largest Int64 would crash the process.
public struct NumericDate: Sendable, Hashable {
    public let secondsSince1970: Int64

    public static let validSeconds: ClosedRange<Int64> = 0...253_402_300_799

    /// Returns `nil` for a time outside the range.
    public init?(secondsSince1970 seconds: Int64) {
        guard Self.validSeconds.contains(seconds) else { return nil }
        secondsSince1970 = seconds
    }

    /// Creates the time from a clock. Clamps a time outside the range.
    public init(clampingSecondsSince1970 seconds: Int64) {
        secondsSince1970 = min(max(seconds, Self.validSeconds.lowerBound), Self.validSeconds.upperBound)
    }

    package var millisecondsSince1970: Int64 { secondsSince1970 * 1000 }
}

extension NumericDate: Comparable {
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.secondsSince1970 < rhs.secondsSince1970 }
}
