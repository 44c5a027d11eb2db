import AppleAccounts
import Encodings

/// The time that plots show.
enum PlotPeriod: String, CaseIterable, Sendable {
    /// The last hour by minute, of this process.
    case hour
    /// The last 24 hours by hour, of all replicas.
    case day
    /// The last 7 days by hour, of all replicas.
    case week

    var title: String {
        switch self {
        case .hour: "Last hour"
        case .day: "Last day"
        case .week: "Last 7 days"
        }
    }

    var words: String {
        switch self {
        case .hour: "By minute over the last hour"
        case .day: "By hour over the last day"
        case .week: "By hour over the last 7 days"
        }
    }

    /// `nil` for an hour by minute.
    var hours: Int? {
        switch self {
        case .hour: nil
        case .day: 24
        case .week: 168
        }
    }

    /// The text at the time axis; `nil` for most points.
    func label(at begin: Moment) -> String? {
        let time = CivilTime(secondsSince1970: begin.milliseconds / 1000)
        switch self {
        case .hour: return time.minute % 10 == 0 ? text(of: begin) : nil
        case .day: return time.hour % 4 == 0 ? text(of: begin) : nil
        case .week: return time.hour == 0 ? Self.date(time) : nil
        }
    }

    /// The text of a time in the table.
    func text(of begin: Moment) -> String {
        let time = CivilTime(secondsSince1970: begin.milliseconds / 1000)
        let clock = "\(Self.twoDigits(time.hour)):\(Self.twoDigits(time.minute))"
        return self == .week ? "\(Self.date(time)) \(clock)" : clock
    }

    /// Returns the rows of the table: five minutes, an hour or a day each, so that it can be read.
    func rows(of points: [PlotPoint]) -> [PlotPoint] {
        let length: Int64 =
            switch self {
            case .hour: 5 * 60_000
            case .day: 3_600_000
            case .week: 24 * 3_600_000
            }
        var rows: [PlotPoint] = []
        for point in points {
            let begin = Moment(milliseconds: point.begin.milliseconds / length * length)
            guard let last = rows.last, last.begin == begin else {
                rows.append(PlotPoint(begin: begin, counts: point.counts))
                continue
            }
            rows[rows.count - 1] = PlotPoint(
                begin: begin, counts: last.counts.merging(point.counts, uniquingKeysWith: +))
        }
        return rows
    }

    private static func date(_ time: CivilTime) -> String {
        "\(twoDigits(time.month))-\(twoDigits(time.day))"
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : String(number) }
}
