public import AppAttestation
public import AppleAccounts

/// The table of hourly service counts, by replica and name. No column identifies a user.
public typealias ServiceHourTable = RecordTable<ServiceHourCount>

extension ServiceHourCount: StoredRecord {
    public static var table: String { "service_hour" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        let hour = try column("begins_at", .operational, \.hour)
        return ServiceHourCount(
            replica: try column(
                "replica", .operational, \.replica, .length(1...ServiceHourCount.longestName)),
            hour: hour,
            name: try column("name", .operational, \.name, .length(1...ServiceHourCount.longestName)),
            count: try column("count", .operational, \.count, .range(0...Int64.max)))
    }
}

/// The table of hourly counts of App Check assessments. No column identifies a user.
public typealias AppCheckHourTable = RecordTable<AppCheckHour>

extension AppCheckHour: StoredRecord {
    public static var table: String { "app_check_hour" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        AppCheckHour(
            target: AppCheckTarget(
                try column.code("target_kind", .operational, \.target.kind),
                name: try column("target", .operational, \.target.name, .length(1...255))),
            hour: try column.part("begins_at", .operational) { Moment(seconds: $0.hour) }.milliseconds / 1000,
            tally: AppCheckTally(
                verified: try column("verified", .operational, \.tally.verified, .range(0...Int64.max)),
                outdatedApp: try column(
                    "outdated_app", .operational, \.tally.outdatedApp, .range(0...Int64.max)),
                unknownOrigin: try column(
                    "unknown_origin", .operational, \.tally.unknownOrigin, .range(0...Int64.max)),
                invalid: try column("invalid", .operational, \.tally.invalid, .range(0...Int64.max))))
    }
}

extension AppCheckHourTable {
    /// Returns "verified = kept.verified + excluded.verified, …", for an INSERT that conflicts with a row.
    ///
    /// - Parameter alias: The existing row's alias.
    public static func additions(to alias: String) -> String {
        let counts: ColumnChoice<Self> = .only {
            [$0[\.tally.verified], $0[\.tally.outdatedApp], $0[\.tally.unknownOrigin], $0[\.tally.invalid]]
        }
        return names(counts).names.map { "\($0) = \(alias).\($0) + excluded.\($0)" }
            .joined(separator: ", ")
    }
}
