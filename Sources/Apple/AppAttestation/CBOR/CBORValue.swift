/// An item of CBOR (RFC 8949 §3.1), of the types that App Attest uses or that a new extension may use.
enum CBORValue: Sendable, Equatable {
    case unsigned(UInt64)
    /// The integer -1 - n.
    case negative(UInt64)
    case bytes(ArraySlice<UInt8>)
    case text(String)
    case array([CBORValue])
    case map(CBORMap)
    case bool(Bool)
    case null

    /// Parses exactly one item with `CBORReader`'s strictness.
    init(parsing bytes: ArraySlice<UInt8>, limits: CBORLimits = CBORLimits()) throws(CBORError) {
        var reader = try CBORReader(bytes, limits: limits)
        self = try reader.readValue()
        try reader.finish()
    }

    /// `nil` for other types, and for an integer that does not fit.
    var integer: Int64? {
        switch self {
        case .unsigned(let value): Int64(exactly: value)
        case .negative(let value): Int64(exactly: value).map { -1 - $0 }
        case .bytes, .text, .array, .map, .bool, .null: nil
        }
    }

    var bytes: ArraySlice<UInt8>? { if case .bytes(let value) = self { value } else { nil } }
    var text: String? { if case .text(let value) = self { value } else { nil } }
    var array: [CBORValue]? { if case .array(let value) = self { value } else { nil } }
    var map: CBORMap? { if case .map(let value) = self { value } else { nil } }
}
