import Encodings

/// The receipt fields that the service uses, parsed but not yet checked.
struct ReceiptContent: Sendable {
    /// The app ID in the form `TEAM.bundle.id`.
    let appID: String
    /// The attestation's leaf certificate in DER.
    let leaf: ArraySlice<UInt8>
    let clientHash: ArraySlice<UInt8>
    let kind: ReceiptKind
    let environment: AttestationEnvironment
    /// Creation time in milliseconds since 1970.
    let createdAt: Int64
    /// The risk metric; present only in refreshed receipts.
    let riskMetric: UInt32?
    /// Earliest time of the next exchange, in milliseconds since 1970; present only in refreshed receipts.
    let notBefore: Int64?
    /// Expiration time in milliseconds since 1970.
    let expiresAt: Int64

    /// Parses a receipt's content. Throws `.contentMalformed` for a missing, repeated or invalid field.
    init(parsing bytes: [UInt8]) throws(ReceiptError) {
        guard let fields = ReceiptField.fields(of: bytes) else {
            throw Self.malformed("other bytes", expected: "a set of fields in DER")
        }
        // If a type occurred twice, two readers could choose different fields.
        guard Set(fields.map(\.type)).count == fields.count else {
            throw Self.malformed("a field that occurs twice", expected: "each field once")
        }
        func value(_ type: Int) -> ArraySlice<UInt8>? { fields.first { $0.type == type }?.value }
        func text(_ type: Int) -> String? { value(type).flatMap { String(validating: $0, as: UTF8.self) } }
        func time(_ type: Int) -> Int64? { text(type).flatMap { RFC3339.milliseconds(of: $0) } }
        guard let appID = text(2), let leaf = value(3), let clientHash = value(4), let createdAt = time(12),
            let expiresAt = time(21)
        else {
            throw Self.malformed(
                "other fields", expected: "fields 2, 3, 4, 12 and 21, with times in RFC 3339")
        }
        guard let kind = text(6).flatMap(ReceiptKind.init(rawValue:)) else {
            throw Self.malformed("another kind in field 6", expected: "ATTEST or RECEIPT")
        }
        switch text(7) {
        case "production": environment = .production
        case "sandbox": environment = .development
        default: throw Self.malformed("another environment in field 7", expected: "production or sandbox")
        }
        riskMetric = try Self.riskMetric(text(17), of: kind)
        notBefore = time(19)
        guard (value(19) == nil) == (notBefore == nil) else {
            throw Self.malformed("another time in field 19", expected: "a time in RFC 3339")
        }
        (self.appID, self.leaf, self.clientHash, self.kind) = (appID, leaf, clientHash, kind)
        (self.createdAt, self.expiresAt) = (createdAt, expiresAt)
    }

    private static func riskMetric(_ text: String?, of kind: ReceiptKind) throws(ReceiptError) -> UInt32? {
        guard let text else {
            // A refreshed receipt is useless without its risk metric.
            guard kind == .attestation else {
                throw malformed("no field 17", expected: "a risk metric in a refreshed receipt")
            }
            return nil
        }
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let metric = UInt32(text)
        else { throw malformed("another field 17", expected: "a decimal number") }
        return metric
    }

    private static func malformed(_ found: String, expected: String) -> ReceiptError {
        ReceiptError(.contentMalformed, found: found, expected: expected)
    }
}

/// A receipt field: `SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }` in DER.
struct ReceiptField {
    let type: Int
    let value: ArraySlice<UInt8>

    /// Maximum number of fields. Apple sends 8 to 10.
    private static let most = 32

    /// Reads `SET OF SEQUENCE` in any order. Returns `nil` for any other content, for lengths that are not
    /// minimal, for more than 32 fields, and for bytes after the set.
    static func fields(of content: [UInt8]) -> [ReceiptField]? {
        var rest = content[...]
        guard var set = read(&rest, tag: 0x31), rest.isEmpty else { return nil }
        var fields: [ReceiptField] = []
        while !set.isEmpty {
            guard fields.count < most, var sequence = read(&set, tag: 0x30),
                let type = read(&sequence, tag: 0x02), read(&sequence, tag: 0x02) != nil,
                let value = read(&sequence, tag: 0x04), sequence.isEmpty, let number = number(type)
            else { return nil }
            fields.append(ReceiptField(type: number, value: value))
        }
        return fields
    }

    /// Reads one item, and advances `bytes` past it. Returns `nil` if the tag differs.
    private static func read(_ bytes: inout ArraySlice<UInt8>, tag: UInt8) -> ArraySlice<UInt8>? {
        guard bytes.popFirst() == tag, let first = bytes.popFirst() else { return nil }
        var size = Int(first)
        if first > 0x7F {
            let count = Int(first & 0x7F)
            // The content has at most 16 KiB, so two length bytes are enough.
            guard (1...2).contains(count), bytes.count >= count, bytes.first != 0 else { return nil }
            size = bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(count)
            guard size > 0x7F else { return nil }
        }
        guard size <= bytes.count else { return nil }
        defer { bytes = bytes.dropFirst(size) }
        return bytes.prefix(size)
    }

    /// Reads a number from 0 to 32767. Returns `nil` for other numbers and superfluous bytes.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard let first = bytes.first, first < 0x80, bytes.count <= 2 else { return nil }
        guard bytes.count == 1 || first != 0 || bytes.last.map({ $0 > 0x7F }) == true else { return nil }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}
