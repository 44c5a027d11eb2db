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
