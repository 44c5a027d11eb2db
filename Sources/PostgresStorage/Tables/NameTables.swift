import SQLTables

/// A table of names that are few and stand in many rows as small numbers.
protocol NumberedNames: Table {
    var id: Column<Int64> { get }
    var name: Column<String> { get }
}

struct TeamTable: NumberedNames {
    static let name = "team"

    let id: Column<Int64>
    let name: Column<String>

    init(_ columns: inout ColumnList) {
        id = columns("id", .operational)
        name = columns("name", .operational)
    }
}

/// Apps by their primary client IDs. Number 0 is no app: it stands for all apps of the team.
struct AppTable: NumberedNames {
    static let name = "app"

    let id: Column<Int64>
    let name: Column<String>

    init(_ columns: inout ColumnList) {
        id = columns("id", .operational)
        name = columns("name", .operational)
    }
}

/// Client IDs, primary or not, that codes and tokens were issued to.
struct ClientTable: NumberedNames {
    static let name = "client"

    let id: Column<Int64>
    let name: Column<String>

    init(_ columns: inout ColumnList) {
        id = columns("id", .operational)
        name = columns("name", .operational)
    }
}
