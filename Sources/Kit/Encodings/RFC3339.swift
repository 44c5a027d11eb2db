/// Dates and times on the Internet (RFC 3339 §5.6), in milliseconds since 1970, from 1970 to the end of the
/// year 9999.
package enum RFC3339 {
    /// The time in UTC, always with three decimals: "2026-11-21T00:50:54.000Z", because parsers in some
    /// languages accept only one precision.
    package static func text(milliseconds: Int64) -> String {
        String(unsafeUninitializedCapacity: size) { buffer in
            write(milliseconds, to: buffer)
            return size
        }
    }

    package static func append(milliseconds: Int64, to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: size) { buffer in
            write(milliseconds, to: buffer)
            bytes.append(contentsOf: buffer)
        }
    }

    /// The size of the text in bytes.
    private static let size = 24

    private static func write(_ milliseconds: Int64, to buffer: UnsafeMutableBufferPointer<UInt8>) {
        let time = CivilTime(secondsSince1970: milliseconds / 1000)
        var end = 0
        func put(_ digit: Int64) {
            buffer[end] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit)
            end += 1
        }
        func put(_ character: Unicode.Scalar, _ twoDigits: Int64) {
            buffer[end] = UInt8(ascii: character)
            end += 1
            put(twoDigits / 10)
            put(twoDigits % 10)
        }
        put(time.year / 1000)
        put(time.year / 100 % 10)
        put(time.year / 10 % 10)
        put(time.year % 10)
        put("-", time.month)
        put("-", time.day)
        put("T", time.hour)
        put(":", time.minute)
        put(":", time.second)
        put(".", milliseconds % 1000 / 10)
        put(milliseconds % 10)
        buffer[end] = UInt8(ascii: "Z")
    }

    /// Reads a time with any offset. Decimals after the third are dropped.
    ///
    /// Returns `nil` for a leap second, an invalid date, a time outside the range, and every other format,
    /// also for ISO 8601 formats that are not in RFC 3339.
    package static func milliseconds(of text: String) -> Int64? {
        var scanner = DigitScanner(text)
        guard let year = scanner.number(digits: 4), scanner.skip("-"),
            let month = scanner.number(digits: 2), scanner.skip("-"),
            let day = scanner.number(digits: 2), scanner.skip("T") || scanner.skip("t"),
            let hour = scanner.number(digits: 2), hour < 24, scanner.skip(":"),
            let minute = scanner.number(digits: 2), minute < 60, scanner.skip(":"),
            let second = scanner.number(digits: 2), second < 60,
            let fraction = scanner.fraction(), let offset = scanner.offset(), scanner.isAtEnd
        else { return nil }
        let days = CivilTime.daysSince1970(year: year, month: month, day: day)
        // Converting back detects 30 February, which becomes a day in March.
        guard CivilTime.date(daysSince1970: days) == (year, month, day) else { return nil }
        let seconds = days * 86400 + hour * 3600 + (minute - offset) * 60 + second
        guard (0...253_402_300_799).contains(seconds) else { return nil }
        return seconds * 1000 + fraction
    }
}
