public import AppAttestation
public import AppleAccounts

/// Numbers of the service by hour, replica and name. No column leads to a user.
public struct ServiceHourTable: Table {
    public static let name = "service_hour"

    public let beginsAt: Column<Moment>
    public let replica: Column<String>
    public let countName: Column<String>
    public let count: Column<Int64>

    public init(_ columns: inout ColumnList) {
        beginsAt = columns("begins_at", .operational, .required)
        replica = columns(
            "replica", .operational, .required, .length(1...ServiceHourCount.longestName))
        countName = columns(
            "name", .operational, .required, .length(1...ServiceHourCount.longestName))
        count = columns("count", .operational, .required, .range(0...Int64.max))
    }
}

extension ServiceHourTable {
    @inlinable public func write(_ hour: ServiceHourCount, to row: some WritableRow) {
        row.set(beginsAt, hour.hour)
        row.set(replica, hour.replica)
        row.set(countName, hour.name)
        row.set(count, hour.count)
    }
}

/// Judged requests of App Check by hour. No column leads to a user.
public struct AppCheckHourTable: Table {
    public static let name = "app_check_hour"

    public let targetKind: Column<AppCheckTarget.Kind>
    public let target: Column<String>
    public let beginsAt: Column<Moment>
    public let verified: Column<Int64>
    public let outdatedApp: Column<Int64>
    public let unknownOrigin: Column<Int64>
    public let invalid: Column<Int64>

    public init(_ columns: inout ColumnList) {
        targetKind = columns("target_kind", .operational, .required)
        target = columns("target", .operational, .required, .length(1...255))
        beginsAt = columns("begins_at", .operational, .required)
        verified = columns("verified", .operational, .required, .range(0...Int64.max))
        outdatedApp = columns("outdated_app", .operational, .required, .range(0...Int64.max))
        unknownOrigin = columns("unknown_origin", .operational, .required, .range(0...Int64.max))
        invalid = columns("invalid", .operational, .required, .range(0...Int64.max))
    }
}

extension AppCheckHourTable {
    /// "verified = kept.verified + excluded.verified, …", for an INSERT that meets a row.
    ///
    /// - Parameter alias: The row that is there.
    public static func additions(to alias: String) -> String {
        let counts: ColumnChoice<Self> = .only {
            [$0.verified, $0.outdatedApp, $0.unknownOrigin, $0.invalid]
        }
        return names(counts).names.map { "\($0) = \(alias).\($0) + excluded.\($0)" }
            .joined(separator: ", ")
    }

    @inlinable public func write(_ hour: AppCheckHour, to row: some WritableRow) {
        row.set(targetKind, hour.target.kind)
        row.set(target, hour.target.name)
        row.set(beginsAt, Moment(seconds: hour.hour))
        row.set(verified, hour.tally.verified)
        row.set(outdatedApp, hour.tally.outdatedApp)
        row.set(unknownOrigin, hour.tally.unknownOrigin)
        row.set(invalid, hour.tally.invalid)
    }

    @inlinable public func hour(_ row: some ReadableRow) throws(StorageError) -> AppCheckHour {
        AppCheckHour(
            target: AppCheckTarget(try row.requiredCode(targetKind), name: try row.required(target)),
            hour: try row.required(beginsAt).milliseconds / 1000,
            tally: AppCheckTally(
                verified: try row.required(verified), outdatedApp: try row.required(outdatedApp),
                unknownOrigin: try row.required(unknownOrigin), invalid: try row.required(invalid)))
    }
}
