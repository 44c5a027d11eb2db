extension Moment {
    /// The moment in UTC as RFC 3339 §5.6 writes it, always with three decimals: "2026-11-21T00:50:54.000Z". Formatters
    /// of several languages read one precision, and fail on the other.
    public var rfc3339: String {
        let fraction = milliseconds % 1000
        let seconds = milliseconds / 1000
        let date = Self.civilDate(daysSince1970: seconds / 86400)
        let secondOfDay = seconds % 86400
        return String(unsafeUninitializedCapacity: 24) { buffer in
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
            put(date.year / 1000)
            put(date.year / 100 % 10)
            put(date.year / 10 % 10)
            put(date.year % 10)
            put("-", date.month)
            put("-", date.day)
            put("T", secondOfDay / 3600)
            put(":", secondOfDay / 60 % 60)
            put(":", secondOfDay % 60)
            put(".", fraction / 10)
            put(fraction % 10)
            buffer[end] = UInt8(ascii: "Z")
            end += 1
            return end
        }
    }

    /// Reads RFC 3339 §5.6 with any offset. Decimals past the third are cut off.
    ///
    /// Returns `nil` for a leap second, a date that no calendar has, a moment outside of the range, and for
    /// every other form, also the ISO 8601 ones that RFC 3339 leaves out.
    public init?(rfc3339 text: String) {
        var scanner = DigitScanner(text)
        guard let year = scanner.number(digits: 4), scanner.skip("-"),
            let month = scanner.number(digits: 2), scanner.skip("-"),
            let day = scanner.number(digits: 2), scanner.skip("T") || scanner.skip("t"),
            let hour = scanner.number(digits: 2), hour < 24, scanner.skip(":"),
            let minute = scanner.number(digits: 2), minute < 60, scanner.skip(":"),
            let second = scanner.number(digits: 2), second < 60,
            let fraction = scanner.fraction(), let offset = scanner.offset(), scanner.isAtEnd
        else { return nil }
        let days = Self.daysSince1970(year: year, month: month, day: day)
        // The way back finds 30 February: it is another day in March.
        guard Self.civilDate(daysSince1970: days) == (year, month, day) else { return nil }
        let seconds = days * 86400 + hour * 3600 + (minute - offset) * 60 + second
        guard (0...253_402_300_799).contains(seconds) else { return nil }
        self.init(milliseconds: seconds * 1000 + fraction)
    }

    /// The proleptic Gregorian date, counted in eras of 400 years that begin on 1 March, so that the leap day
    /// is the last of its year and needs no case of its own.
    private static func civilDate(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = daysSince1970 + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
