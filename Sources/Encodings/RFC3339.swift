/// Dates and times on the Internet (RFC 3339 §5.6), in milliseconds since 1970, from 1970 to the end of the year 9999.
package enum RFC3339 {
    /// The time in UTC, always with three decimals: "2026-11-21T00:50:54.000Z". Formatters of several languages read one
    /// precision, and fail on the other.
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

    /// Bytes of every text that is written.
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

    /// Reads a time with any offset. Decimals past the third are cut off.
    ///
    /// Returns `nil` for a leap second, a date that no calendar has, a time outside of the range, and every other form,
    /// also the ISO 8601 forms that RFC 3339 leaves out.
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
        // The way back finds 30 February: it is another day in March.
        guard CivilTime.date(daysSince1970: days) == (year, month, day) else { return nil }
        let seconds = days * 86400 + hour * 3600 + (minute - offset) * 60 + second
        guard (0...253_402_300_799).contains(seconds) else { return nil }
        return seconds * 1000 + fraction
    }
}
