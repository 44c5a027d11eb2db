/// A time in UTC as date and time of day (proleptic Gregorian calendar), for texts that are written often.
package struct CivilTime: Sendable {
    package let year: Int64
    package let month: Int64
    package let day: Int64
    /// 0 is Sunday.
    package let weekday: Int
    private let secondOfDay: Int64

    /// For times from 1970 to the end of the year 9999.
    package init(secondsSince1970 seconds: Int64) {
        let days = seconds / 86_400
        secondOfDay = seconds % 86_400
        weekday = Int((days + 4) % 7)
        (year, month, day) = Self.date(daysSince1970: days)
    }

    /// Returns the days from 1970-01-01 to a date. An invalid date, such as 30 February, counts as a later
    /// day.
    package static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Counts in eras of 400 years that begin on 1 March, so that the leap day is the last day of a year and
    /// needs no special case.
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
