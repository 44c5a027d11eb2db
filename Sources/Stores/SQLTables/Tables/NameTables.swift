/// A table that assigns small numbers to names, because there are few names and they occur in many rows.
public protocol NumberedNames: Table {
    var id: Column<Int64> { get }
    var name: Column<String> { get }
}

public struct TeamTable: NumberedNames {
    public static let name = "team"

    public let id: Column<Int64>
    public let name: Column<String>

    public init(_ columns: inout ColumnList) {
        id = columns("id", .operational, .required, .nameNumber)
        name = columns("name", .operational, .required, .length(1...255))
    }
}

/// The table of apps, by primary client ID. Number 0 is reserved and stands for all of the team's apps.
public struct AppTable: NumberedNames {
    public static let name = "app"
    /// The reserved number. Its rows apply to all of the team's apps.
    public static let allApps: Int64 = 0

    public let id: Column<Int64>
    public let name: Column<String>

    public init(_ columns: inout ColumnList) {
        id = columns("id", .operational, .required, .nameNumber)
        name = columns("name", .operational, .required, .length(1...255))
    }
}

/// The table of client IDs, primary or not, to which codes and tokens were issued.
public struct ClientTable: NumberedNames {
    public static let name = "client"

    public let id: Column<Int64>
    public let name: Column<String>

    public init(_ columns: inout ColumnList) {
        id = columns("id", .operational, .required, .nameNumber)
        name = columns("name", .operational, .required, .length(1...255))
    }
}
