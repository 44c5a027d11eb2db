import AttestationMint
import TestSupport
import Testing

@testable import AppAttestation

@Suite struct CBORReaderTests {
    static func parse(_ bytes: [UInt8], limits: CBORLimits = CBORLimits()) throws(CBORError) -> CBORValue {
        try CBORValue(parsing: bytes[...], limits: limits)
    }

    /// From RFC 8949, appendix A.
    static let samples: [([UInt8], CBORValue)] = [
        ([0x00], .unsigned(0)), ([0x17], .unsigned(23)), ([0x18, 0x18], .unsigned(24)),
        ([0x19, 0x03, 0xE8], .unsigned(1000)), ([0x1A, 0x00, 0x0F, 0x42, 0x40], .unsigned(1_000_000)),
        ([0x1B, 0x00, 0x00, 0x00, 0xE8, 0xD4, 0xA5, 0x10, 0x00], .unsigned(1_000_000_000_000)),
        ([0x1B] + [UInt8](repeating: 0xFF, count: 8), .unsigned(.max)),
        ([0x20], .negative(0)), ([0x38, 0x63], .negative(99)),
        ([0x3B] + [UInt8](repeating: 0xFF, count: 8), .negative(.max)),
        ([0x40], .bytes([])), ([0x44, 1, 2, 3, 4], .bytes([1, 2, 3, 4])),
        ([0x60], .text("")), ([0x62, 0xC3, 0xBC], .text("ü")),
        ([0x80], .array([])), ([0x83, 1, 2, 3], .array([.unsigned(1), .unsigned(2), .unsigned(3)])),
        ([0xA0], .map(CBORMap(entries: []))),
        (
            [0xA2, 0x01, 0x02, 0x61, 0x61, 0xF6],
            .map(CBORMap(entries: [(.unsigned(1), .unsigned(2)), (.text("a"), .null)]))
        ),
        ([0xF4], .bool(false)), ([0xF5], .bool(true)), ([0xF6], .null),
    ]

    @Test(arguments: samples) func `reads every type that it knows`(bytes: [UInt8], value: CBORValue) throws {
        #expect(try Self.parse(bytes) == value)
    }

    static let refusals: [(CBORError.Code, [UInt8])] = [
        (.truncated, []), (.truncated, [0x18]), (.truncated, [0x19, 0x01]), (.truncated, [0x42, 0x01]),
        (.truncated, [0x62, 0x61]), (.truncated, [0x82, 0x01]), (.truncated, [0xA1, 0x01]),
        (.truncated, [0x5B] + [UInt8](repeating: 0xFF, count: 8)),
        (.truncated, [0x7B, 0x7F] + [UInt8](repeating: 0xFF, count: 7)),
        (.trailingBytes, [0x00, 0x00]), (.trailingBytes, [0x80, 0x80]), (.trailingBytes, [0xA0, 0xFF]),
        (.indefiniteLength, [0x5F, 0x41, 0x00, 0xFF]), (.indefiniteLength, [0x7F, 0x61, 0x61, 0xFF]),
        (.indefiniteLength, [0x9F, 0xFF]), (.indefiniteLength, [0xBF, 0xFF]), (.indefiniteLength, [0xFF]),
        (.lengthNotMinimal, [0x18, 0x17]), (.lengthNotMinimal, [0x19, 0x00, 0xFF]),
        (.lengthNotMinimal, [0x1A, 0x00, 0x00, 0xFF, 0xFF]),
        (.lengthNotMinimal, [0x1B, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]),
        (.lengthNotMinimal, [0x38, 0x00]), (.lengthNotMinimal, [0x58, 0x01, 0x00]),
        (.lengthNotMinimal, [0x78, 0x01, 0x61]), (.lengthNotMinimal, [0x98, 0x00]),
        (.lengthNotMinimal, [0xB8, 0x00]),
        // A tag, floats, undefined, a simple value, and the reserved lengths.
        (.typeNotAllowed, [0xC0, 0x60]), (.typeNotAllowed, [0xF9, 0x3C, 0x00]),
        (.typeNotAllowed, [0xFA, 0, 0, 0, 0]), (.typeNotAllowed, [0xFB, 0, 0, 0, 0, 0, 0, 0, 0]),
        (.typeNotAllowed, [0xF7]), (.typeNotAllowed, [0xF0]), (.typeNotAllowed, [0xF8, 0x18]),
        (.typeNotAllowed, [0x1C]), (.typeNotAllowed, [0x5D]), (.typeNotAllowed, [0x1E]),
        (.keyNotAllowed, [0xA1, 0x40, 0x00]), (.keyNotAllowed, [0xA1, 0x80, 0x00]),
        (.keyNotAllowed, [0xA1, 0xA0, 0x00]), (.keyNotAllowed, [0xA1, 0xF6, 0x00]),
        (.duplicateKey, [0xA2, 0x01, 0x00, 0x01, 0x00]),
        (.duplicateKey, [0xA2, 0x61, 0x61, 0, 0x61, 0x61, 1]),
        (.duplicateKey, [0xA3, 0x20, 0x00, 0x01, 0x00, 0x20, 0x00]),
        // A surrogate, an overlong form, a byte that continues nothing, a cut sequence.
        (.textInvalid, [0x63, 0xED, 0xA0, 0x80]), (.textInvalid, [0x62, 0xC0, 0xAF]),
        (.textInvalid, [0x61, 0x80]), (.textInvalid, [0x61, 0xC3]),
    ]

    @Test(arguments: refusals)
    func `refuses all that has another meaning elsewhere`(code: CBORError.Code, bytes: [UInt8]) {
        #expect(throws: CBORError(code)) { try Self.parse(bytes) }
    }

    @Test(arguments: refusals.filter { ![.trailingBytes, .truncated].contains($0.0) })
    func `refuses the same inside of arrays and maps`(code: CBORError.Code, bytes: [UInt8]) {
        #expect(throws: CBORError(code)) { try Self.parse([0x81] + bytes) }
        #expect(throws: CBORError(code)) { try Self.parse([0xA1, 0x01] + bytes) }
    }

    @Test func `texts that only Swift calls equal are two keys`() throws {
        // é as one scalar, and as e with an accent.
        let map = try Self.parse([0xA2, 0x62, 0xC3, 0xA9, 0x01, 0x63, 0x65, 0xCC, 0x81, 0x02]).map
        #expect(map?.entries.count == 2)
        #expect(map?["\u{E9}"] == .unsigned(1) && map?["e\u{301}"] == .unsigned(2))
    }

    @Test func `1 and -2 and "1" are three keys`() throws {
        let map = try #require(try Self.parse([0xA3, 0x01, 0x0A, 0x21, 0x0B, 0x61, 0x31, 0x0C]).map)
        #expect(map[1] == .unsigned(10) && map[-2] == .unsigned(11) && map["1"] == .unsigned(12))
        #expect(map[2] == nil && map["2"] == nil)
    }

    @Test(arguments: [UInt8(0x81), 0xA1]) func `refuses deep nesting`(head: UInt8) throws {
        let level: [UInt8] = head == 0xA1 ? [head, 0x01] : [head]
        let nested = { (depth: Int) -> [UInt8] in
            Array([[UInt8]](repeating: level, count: depth).joined()) + [0x00]
        }
        _ = try Self.parse(nested(6))
        #expect(throws: CBORError(.tooDeep)) { try Self.parse(nested(7)) }
        #expect(throws: CBORError(.tooDeep)) { try Self.parse(nested(8000)) }
    }

    @Test func `refuses many items before it reads them`() throws {
        let elements = { (count: UInt8) in [0x98, count] + [UInt8](repeating: 0, count: Int(count)) }
        _ = try Self.parse(elements(32))
        #expect(throws: CBORError(.tooManyItems)) { try Self.parse(elements(33)) }
        for type: UInt8 in [0x9B, 0xBB] {
            let bytes = [type] + [UInt8](repeating: 0xFF, count: 8)
            #expect(throws: CBORError(.tooManyItems)) { try Self.parse(bytes) }
        }
    }

    @Test func `refuses large input before it reads it`() throws {
        let limits = CBORLimits(size: 3)
        _ = try Self.parse([0x82, 0x01, 0x02], limits: limits)
        #expect(throws: CBORError(.tooLarge)) { try Self.parse([0x83, 0x01, 0x02, 0x03], limits: limits) }
    }

    @Test func `shows where an item ends, also in a slice`() throws {
        let bytes: [UInt8] = [0xFF, 0xFF, 0x82, 0x01, 0x41, 0x07, 0xA0, 0xEE]
        var reader = try CBORReader(bytes[2..<7])
        #expect(try reader.readValue() == .array([.unsigned(1), .bytes([7])]))
        #expect(Array(reader.rest) == [0xA0])
        #expect(throws: CBORError(.trailingBytes)) { try reader.finish() }
        #expect(try reader.readValue() == .map(CBORMap(entries: [])))
        try reader.finish()
    }

    @Test func `negative integers have the value of the standard`() {
        #expect(CBORValue.negative(6).integer == -7)
        #expect(CBORValue.negative(UInt64(Int64.max)).integer == .min)
        #expect(CBORValue.negative(.max).integer == nil)
        #expect(CBORValue.unsigned(UInt64(Int64.max)).integer == .max)
        #expect(CBORValue.unsigned(.max).integer == nil)
    }
}

/// Checks the readers with random changes of valid objects.
@Suite struct CBORMutationTests {
    /// A million in release builds; fewer in debug builds, whose tests run after every change.
    static let count: Int = {
        #if DEBUG
            50_000
        #else
            1_000_000
        #endif
    }()

    @Test(arguments: [UInt64(1), 2])
    func `never crashes, and accepts only the one encoding of a value`(seed: UInt64) throws {
        let minted = try Minted.shared.get()
        var extended = minted.parts
        extended.extensions =
            CBORItem.map([
                (.text("apple_validation_category_01"), .bytes([4, 0, 0, 0])),
                (.text("apple_bundle_version_01"), .text("1.2")),
            ]).encoded
        var plain = minted.parts
        plain.certificates = [.bytes([1, 2, 3]), .bytes([4])]
        let samples = [
            try minted.mint.attestation(extended), try minted.mint.attestation(plain),
            try minted.assertionParts.assertion(), extended.authenticatorData,
        ]
        var generator = SeededGenerator(seed: seed)
        var accepted = 0
        for round in 0..<(Self.count / 2) {
            var bytes = samples[round % samples.count]
            for _ in 0...Int.random(in: 0..<3, using: &generator) { Self.mutate(&bytes, &generator) }
            if let value = try? CBORValue(parsing: bytes[...]) {
                accepted += 1
                #expect(value.item.encoded == bytes)
            }
            _ = try? UnverifiedAssertion(bytes)
            if let attestation = try? UnverifiedAttestation(bytes) { Self.readParts(of: attestation) }
            Self.readAuthenticatorData(bytes[...])
        }
        // Most changes are inside of strings; so the comparison has been made.
        #expect(accepted > Self.count / 20)
    }

    private static func readParts(of attestation: UnverifiedAttestation) {
        _ = try? AttestationCertificates(attestation, under: .appleAppAttestation, at: 0)
        readAuthenticatorData(attestation.authenticatorData)
    }

    private static func readAuthenticatorData(_ bytes: ArraySlice<UInt8>) {
        for kind in AppAttestationKind.allCases {
            if let data = try? AuthenticatorData(parsing: bytes, of: kind) {
                _ = try? AuthenticatorExtensions(parsing: data.rest)
            }
        }
    }

    private static func mutate(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !bytes.isEmpty else { return bytes.append(0xA1) }
        let position = Int.random(in: 0..<bytes.count, using: &generator)
        // Heads of items are rare in long objects, and half of the changes are near the begin.
        let index = Bool.random(using: &generator) ? position : position % min(64, bytes.count)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes[index] = UInt8.random(in: 0...255, using: &generator)
        case 2: bytes.remove(at: index)
        case 3: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: index)
        case 4: bytes.removeLast(bytes.count - index)
        default:
            let end = min(bytes.count, index + Int.random(in: 1...16, using: &generator))
            bytes.insert(contentsOf: Array(bytes[index..<end]), at: index)
        }
    }
}

extension CBORValue {
    /// The item for the writer of the tests.
    var item: CBORItem {
        switch self {
        case .unsigned(let value): .unsigned(value)
        case .negative(let value): .negative(value)
        case .bytes(let bytes): .bytes(Array(bytes))
        case .text(let text): .text(text)
        case .array(let elements): .array(elements.map(\.item))
        case .map(let map): .map(map.entries.map { ($0.key.item, $0.value.item) })
        case .bool(let value): .raw([value ? 0xF5 : 0xF4])
        case .null: .raw([0xF6])
        }
    }
}
