/// Internet dates and times (RFC 3339 §5.6), in milliseconds since 1970, up to the end of the year 9999.
package enum RFC3339 {
    /// Returns the time in UTC, such as "2026-11-21T00:50:54.000Z". It always has three decimals, because
    /// parsers in some languages accept only one precision.
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

    /// Length of the formatted time in bytes.
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

    /// Parses a time with any UTC offset, and drops any decimals after the third.
    ///
    /// Returns `nil` for a leap second, an invalid date, a time out of range, or any other format, including
    /// the ISO 8601 formats that RFC 3339 excludes.
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
        // The reverse conversion detects an invalid date: 30 February, for example, becomes a day in March.
        guard CivilTime.date(daysSince1970: days) == (year, month, day) else { return nil }
        let seconds = days * 86400 + hour * 3600 + (minute - offset) * 60 + second
        guard (0...253_402_300_799).contains(seconds) else { return nil }
        return seconds * 1000 + fraction
    }
}

/// A UTC time split into date and time of day (proleptic Gregorian calendar). The conversion is fast enough
/// for timestamps that the program writes often.
package struct CivilTime: Sendable {
    package let year: Int64
    package let month: Int64
    package let day: Int64
    /// Day of the week, where 0 is Sunday.
    package let weekday: Int
    private let secondOfDay: Int64

    /// Converts a time from 1970 to the end of the year 9999.
    package init(secondsSince1970 seconds: Int64) {
        let days = seconds / 86_400
        secondOfDay = seconds % 86_400
        weekday = Int((days + 4) % 7)
        (year, month, day) = Self.date(daysSince1970: days)
    }

    /// Returns the number of days from 1970-01-01 to a date. An invalid date, such as 30 February, is
    /// treated as a later day.
    package static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Returns the date of a day. The algorithm counts in 400-year eras that begin on 1 March, so that the
    /// leap day is the last day of a year and needs no special case.
    package static func date(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = daysSince1970 + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    package var hour: Int64 { secondOfDay / 3600 }
    package var minute: Int64 { secondOfDay / 60 % 60 }
    package var second: Int64 { secondOfDay % 60 }
}

/// Parses fixed-width fields of ASCII digits from the front of a string.
struct DigitScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Consumes the next byte and returns true if it is this character.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// Consumes exactly this many digits.
    mutating func number(digits: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<digits {
            guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else {
                return nil
            }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            rest.removeFirst()
        }
        return value
    }

    /// Consumes "." and 1 to 9 digits if they are present. Returns the fraction in milliseconds.
    mutating func fraction() -> Int64? {
        guard skip(".") else { return 0 }
        var value: Int64 = 0
        var digits = 0
        while digits < 9, let digit = number(digits: 1) {
            if digits < 3 { value = value * 10 + digit }
            digits += 1
        }
        guard digits > 0 else { return nil }
        for _ in min(digits, 3)..<3 { value *= 10 }
        return value
    }

    /// Consumes "Z", "+hh:mm" or "-hh:mm". Returns the offset in minutes ahead of UTC.
    mutating func offset() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let isAhead = skip("+")
        guard isAhead || skip("-"), let hours = number(digits: 2), hours < 24, skip(":"),
            let minutes = number(digits: 2), minutes < 60
        else { return nil }
        let offset = hours * 60 + minutes
        return isAhead ? offset : -offset
    }
}

/// HTTP dates in the preferred format, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
package enum HTTPDate {
    package static func text(secondsSince1970 seconds: Int64) -> String {
        let time = CivilTime(secondsSince1970: seconds)
        let date = "\(padded(time.day)) \(months[Int(time.month) - 1]) \(time.year)"
        return
            "\(days[time.weekday]), \(date) \(padded(time.hour)):\(padded(time.minute)):\(padded(time.second)) GMT"
    }

    /// Parses a date into seconds since 1970. Returns `nil` for any other format.
    package static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ").map(String.init)
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT",
            let month = months.firstIndex(of: parts[2])
        else { return nil }
        let date = "\(parts[3])-\(padded(Int64(month) + 1))-\(parts[1])"
        return RFC3339.milliseconds(of: "\(date)T\(parts[4])Z").map { $0 / 1000 }
    }

    private static func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
