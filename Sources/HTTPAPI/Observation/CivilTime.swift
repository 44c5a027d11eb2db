/// A moment in UTC as calendar and clock, for text that is written many times a second.
struct CivilTime {
    let year: Int
    let month: Int
    let day: Int
    /// 0 is Sunday.
    let weekday: Int
    private let secondOfDay: Int

    /// For moments from 1970 on.
    init(secondsSince1970 seconds: Int64) {
        let days = Int(seconds / 86_400)
        secondOfDay = Int(seconds % 86_400)
        weekday = (days + 4) % 7
        // The year is taken to begin in March, so that the leap day is its last (days_from_civil, inverted).
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// `2026-11-21T00:50:54`
    func appendRFC3339(to bytes: inout [UInt8]) {
        appendTwoDigits(year / 100, to: &bytes)
        appendTwoDigits(year % 100, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        appendTwoDigits(month, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        appendTwoDigits(day, to: &bytes)
        bytes.append(UInt8(ascii: "T"))
        appendClock(to: &bytes)
    }

    /// `00:50:54`
    func appendClock(to bytes: inout [UInt8]) {
        appendTwoDigits(secondOfDay / 3600, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        appendTwoDigits(secondOfDay / 60 % 60, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        appendTwoDigits(secondOfDay % 60, to: &bytes)
    }

    /// Writes a number below 100.
    func appendTwoDigits(_ number: Int, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10))
        bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }
}
