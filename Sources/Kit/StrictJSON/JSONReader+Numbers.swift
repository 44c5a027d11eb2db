extension JSONReader {
    /// Reads a number by the grammar of RFC 8259 §6, without a conversion that could trap, round or overflow.
    public mutating func readNumber() throws(JSONError) -> JSONNumber {
        skipWhiteSpace()
        let start = position
        let isNegative = byte == UInt8(ascii: "-")
        if isNegative { position += 1 }
        let digits = position
        try skipDigits()
        guard bytes[digits] != UInt8(ascii: "0") || position == digits + 1 else {
            throw invalid("leading zero")
        }
        var isInteger = true
        if byte == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try skipDigits()
        }
        if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            isInteger = false
            position += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { position += 1 }
            try skipDigits()
        }
        if isInteger, let value = integer(bytes[digits..<position], isNegative: isNegative) {
            return .integer(value)
        }
        return .other(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func skipDigits() throws(JSONError) {
        let start = position
        while byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
        guard position > start else { throw invalid("no digit at byte \(position)") }
    }

    /// `nil` when the digits do not fit 64 bits.
    private func integer(_ digits: ArraySlice<UInt8>, isNegative: Bool) -> Int64? {
        var value: Int64 = 0
        for digit in digits {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            // Subtracts, because Int64.min has no positive counterpart.
            let (difference, underflow) = product.subtractingReportingOverflow(
                Int64(digit - UInt8(ascii: "0")))
            if overflow || underflow { return nil }
            value = difference
        }
        if isNegative { return value }
        return value == Int64.min ? nil : -value
    }
}

/// A JSON number without loss: an exact 64-bit integer, or the text of any other number.
///
/// `1e3` and `1.0` are not integers here, because Apple never writes them, and readers that round would
/// disagree with others.
public enum JSONNumber: Sendable, Equatable {
    case integer(Int64)
    case other(String)
}
