import AttestationMint

@testable import AppAttestation

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
